// SPDX-License-Identifier: MIT

internal import LupineTransport

/// What a connection does instead of speaking HTTP: the exact bytes, pauses and endings that a test wants to see
/// handled.
///
/// Steps run in order, each when the one before it is over; behind the last one the connection is closed. Bytes
/// are read only by the `expect` steps: without one the kernel's buffers fill and the client is held back. A step that
/// expects more than comes before the client's end closes the connection.
package struct Script: Sendable {
    /// One thing to do.
    package enum Step: Sendable {
        /// Reads to the end of a head (CRLF CRLF).
        case expectHead
        /// Reads so many bytes.
        case expectBytes(Int)
        /// Reads these bytes; when others come the connection ends with a reset.
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
        /// Opens the gate of this name: whoever waits for it knows that the script has come here.
        case signal(String)
        /// From here on reads at most so many bytes, each time after such a pause.
        case slowRead(bytes: Int, every: Duration)
        /// Ends with a reset (RST).
        case reset
        /// Closes our half for sending (over TLS behind a close_notify); the script goes on.
        case halfClose
        /// Ends in order: what has come is dropped first, what comes later is answered with a reset by the kernel.
        case close
        /// Does nothing any more until the origin is shut down or the client goes.
        case stall
        /// Speaks HTTP from here on, as the origin does elsewhere; steps behind it do not come.
        case speakHTTP

        // The rest needs TLS, and closes the connection where there is none.

        /// Speaks TLS from here on, inside of what was spoken so far: behind the answer to a CONNECT, or in a script beneath
        /// TLS. The handshake comes first, then the next step. `cutting`: see `cutWire`.
        case startTLS(cutting: WireCut? = nil)
        /// Ends as `close`, without a close_notify: the client should see that it was cut off.
        case closeWithoutNotify
        /// Sends a close_notify and leaves the socket open.
        case sendCloseNotify
        /// Sends bytes on the wire as they are, between the records.
        case sendBeneathTLS([UInt8])
        /// From here on the wire takes so many bytes more, then this happens: it cuts records and handshakes in the middle. What
        /// is behind the cut never leaves, and steps that wait for that do not come.
        case cutWire(WireCut)
        /// Asks for another handshake, which only TLS 1.2 has.
        case requestRenegotiation
        /// Sends under new keys (TLS 1.3), and asks the client to do so as well or not.
        case updateKeys(both: Bool)
    }

    /// Where the steps begin.
    package enum Layer: Hashable, Sendable {
        /// On content: behind the handshake, if the origin has TLS.
        case content
        /// On the socket, whatever the origin speaks: instead of a handshake.
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

    /// Sends an alert in the clear, as one instead of a ServerHello is (RFC 8446 section 6): for a script on the socket.
    package static func sendAlert(_ description: UInt8, isFatal: Bool = true) -> Script.Step {
        .send([21, 3, 3, 0, 2, isFatal ? 2 : 1, description])
    }
}

/// Which connection follows which script.
///
/// Connections are counted as they come, from 0; where the plan belongs to a path, as they ask for it.
package final class ScriptPlan: Sendable {
    /// What happens to connections behind the last script.
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
