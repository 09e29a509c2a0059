// SPDX-License-Identifier: MIT

internal import LupineTransport

/// What a connection does instead of speaking HTTP: the exact bytes, pauses and endings that a test wants to see
/// handled.
///
/// Steps run in order, each after the one before it has ended; after the last one the connection is closed. Bytes
/// are read only by the `expect` steps: without one the kernel's buffers fill and flow control stops the client. If the
/// client ends before an `expect` step is satisfied, the connection is closed.
package struct Script: Sendable {
    /// One thing to do.
    package enum Step: Sendable {
        /// Reads to the end of a head (CRLF CRLF).
        case expectHead
        /// Reads this number of bytes.
        case expectBytes(Int)
        /// Reads these bytes; if other bytes arrive, the connection is reset.
        case expectExactly([UInt8])
        /// Reads to the head of an HTTP/2 frame of this type on that stream; the first such step begins with the preface.
        case expectFrame(type: UInt8, stream: UInt32)
        /// Reads until the client closes its half.
        case expectEnd
        /// Sends the bytes.
        case send([UInt8])
        /// Sends each byte with a call of its own.
        case sendByteByByte([UInt8])
        /// Does nothing for a while. A signal is better where the test can give one.
        case pause(Duration)
        /// Waits until the gate of this name is opened.
        case waitForSignal(String)
        /// Waits until this gate is opened, which need not be one of the origin's.
        case waitForGate(Gate)
        /// Opens the gate of this name, which tells its waiters that the script has reached this step.
        case signal(String)
        /// From now on reads at most `bytes` bytes after each pause.
        case slowRead(bytes: Int, every: Duration)
        /// Ends with a reset (RST).
        case reset
        /// Closes our half for sending (over TLS after a close_notify); the script continues.
        case halfClose
        /// Closes in order: received bytes are discarded first; the kernel answers later ones with a reset.
        case close
        /// Does nothing until the origin is shut down or the client disconnects.
        case stall
        /// Speaks HTTP from now on, as the origin does elsewhere; later steps are not run.
        case speakHTTP

        // The following steps need TLS, and close the connection without it.

        /// Starts TLS inside the present layer: after the response to a CONNECT, or in a script beneath TLS. The next step
        /// follows the handshake. `cutting`: see `cutWire`.
        case startTLS(cutting: WireCut? = nil)
        /// Ends as `close`, without a close_notify: the client should see that it was cut off.
        case closeWithoutNotify
        /// Sends a close_notify and leaves the socket open.
        case sendCloseNotify
        /// Sends bytes on the wire as they are, between the records.
        case sendBeneathTLS([UInt8])
        /// Cuts the ciphertext off after a number of bytes, even inside a record or handshake. Bytes after the cut are never
        /// sent, and steps that wait for them are not run.
        case cutWire(WireCut)
        /// Requests a renegotiation (TLS 1.2 only).
        case requestRenegotiation
        /// Updates the sending keys (TLS 1.3); `both`: also requests the client to update its keys.
        case updateKeys(both: Bool)
    }

    /// The layer on which the steps start.
    package enum Layer: Hashable, Sendable {
        /// Content: after the handshake, if the origin uses TLS.
        case content
        /// The socket, even if the origin uses TLS: instead of a handshake.
        case socket
    }

    /// What happens, in order.
    package var steps: [Step]
    /// Where it happens, if the script begins with the connection.
    package var layer: Layer

    /// A script of these steps.
    package init(_ steps: [Step], on layer: Layer = .content) {
        self.steps = steps
        self.layer = layer
    }
}

extension Script.Step {
    /// Sends text.
    package static func send(_ text: String) -> Script.Step { .send(Array(text.utf8)) }

    /// Sends an unencrypted alert instead of a ServerHello (RFC 8446 section 6): for a script on the socket.
    package static func sendAlert(_ description: UInt8, isFatal: Bool = true) -> Script.Step {
        .send([21, 3, 3, 0, 2, isFatal ? 2 : 1, description])
    }
}

/// Which connection follows which script.
///
/// Connections are numbered from 0 in order of acceptance; for the plan of a path, in order of their requests for it.
package final class ScriptPlan: Sendable {
    /// What happens to connections after the last script is used.
    package enum Afterwards: Sendable {
        /// They follow the last script.
        case repeatLast
        /// They are closed as soon as they are accepted.
        case refuse
        /// The listener is closed with the next one: further clients are refused by the kernel.
        case stopListening
    }

    /// What a connection is to do.
    enum Choice {
        case follow(Script)
        case refuse
        case stopListening
    }

    /// The scripts, in order.
    package let scripts: [Script]
    /// What happens behind the last one.
    package let afterwards: Afterwards
    private let used = Lock(0)

    /// The first connection follows the first script, and so on.
    package init(_ scripts: [Script], afterwards: Afterwards = .repeatLast) {
        self.scripts = scripts
        self.afterwards = afterwards
    }

    /// One script for all connections.
    package convenience init(on layer: Script.Layer = .content, _ steps: Script.Step...) {
        self.init([Script(steps, on: layer)])
    }

    /// What connection number `index` does.
    func script(for index: Int) -> Choice {
        if index < scripts.count { return .follow(scripts[index]) }
        switch afterwards {
        case .repeatLast:
            guard let last = scripts.last else { return .refuse }
            return .follow(last)
        case .refuse: return .refuse
        case .stopListening: return .stopListening
        }
    }

    /// What the next one does.
    func next() -> Choice {
        script(
            for: used.withLock { used in
                defer { used += 1 }
                return used
            })
    }
}
