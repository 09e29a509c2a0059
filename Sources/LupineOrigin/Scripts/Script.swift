// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The steps that a connection follows instead of serving HTTP: the exact bytes, pauses and endings that a test needs.
///
/// Steps run in order, each when the previous one has ended. After the last step the connection is closed. Only the `expect`
/// steps read bytes: without one the kernel's buffers fill, and the client has to wait. If the client closes its half of the
/// connection before an `expect` step is satisfied, the origin closes the connection.
package struct Script: Sendable {
    /// One step of a script.
    package enum Step: Sendable {
        /// Reads to the end of the head of an HTTP/1.1 message (CRLF CRLF).
        case expectHead
        /// Reads a number of bytes.
        case expectBytes(Int)
        /// Reads these bytes; if other bytes arrive, the connection is reset.
        case expectExactly([UInt8])
        /// Reads to the end of the header of an HTTP/2 frame of this type on this stream. The first `expectFrame` step also
        /// reads the client's connection preface.
        case expectFrame(type: UInt8, stream: UInt32)
        /// Reads until the client closes its half of the connection.
        case expectEnd
        /// Sends the bytes.
        case send([UInt8])
        /// Sends each byte with a separate system call.
        case sendByteByByte([UInt8])
        /// Does nothing for this duration. Prefer `waitForSignal` where the test knows the event to wait for.
        case pause(Duration)
        /// Waits until the origin's gate of this name is open.
        case waitForSignal(String)
        /// Waits until this gate is open. The gate need not be one of the origin's.
        case waitForGate(Gate)
        /// Opens the origin's gate of this name. A test that waits for the gate then knows that the script has reached this step.
        case signal(String)
        /// Makes all later steps pause for the duration `every` after each `bytes` bytes that they read.
        case slowRead(bytes: Int, every: Duration)
        /// Resets the connection (RST), which ends the script.
        case reset
        /// Closes the origin's half of the connection, over TLS after a close_notify. The script continues.
        case halfClose
        /// Closes the connection. Input that has arrived is dropped first; the kernel answers later input with a reset.
        case close
        /// Does nothing until the origin shuts down or the connection fails. Later steps never run.
        case stall
        /// Ends the script: the connection serves HTTP, like a connection without a script. Later steps are ignored.
        case speakHTTP

        // The remaining steps need TLS. On a connection without TLS they close the connection.

        /// Starts TLS over the current channel: after the response to a CONNECT, in a script on the socket, or inside TLS. The
        /// next step runs after the handshake. With `cutting`, the origin sends the ciphertext up to this cut only, which may be
        /// in the handshake.
        case startTLS(cutting: WireCut? = nil)
        /// Closes as `close` does, but without a close_notify. The client should detect the truncation.
        case closeWithoutNotify
        /// Sends a close_notify and leaves the socket open.
        case sendCloseNotify
        /// Sends bytes between the TLS records, unencrypted.
        case sendBeneathTLS([UInt8])
        /// Cuts the ciphertext after a number of bytes, in the middle of a record or handshake. The bytes after the cut are never
        /// sent. Steps that wait until those bytes are sent never run.
        case cutWire(WireCut)
        /// Requests a renegotiation (TLS 1.2 only).
        case requestRenegotiation
        /// Updates the origin's sending keys (TLS 1.3). If `both`, also requests that the client update its sending keys.
        case updateKeys(both: Bool)
    }

    /// The layer on which the steps begin.
    package enum Layer: Hashable, Sendable {
        /// The content: after the handshake, if the origin uses TLS.
        case content
        /// The socket, even if the origin uses TLS: there is no handshake.
        case socket
    }

    /// The steps, in order.
    package var steps: [Step]
    /// The layer on which the script begins. It matters only to a script that starts with the connection.
    package var layer: Layer

    /// Creates a script.
    package init(_ steps: [Step], on layer: Layer = .content) {
        self.steps = steps
        self.layer = layer
    }
}

extension Script.Step {
    /// Sends text.
    package static func send(_ text: String) -> Script.Step { .send(Array(text.utf8)) }

    /// Sends an unencrypted alert, as a server does in place of a ServerHello (RFC 8446 section 6). For scripts on the socket.
    package static func sendAlert(_ description: UInt8, isFatal: Bool = true) -> Script.Step {
        // A record: type alert (21), version 3.3, length 2; then the alert's level and description.
        .send([21, 3, 3, 0, 2, isFatal ? 2 : 1, description])
    }
}

/// Assigns scripts to connections: the first connection follows the first script, and so on.
///
/// A plan in the configuration counts connections in order of acceptance. A plan for a path counts connections in the order of
/// their requests for the path.
package final class ScriptPlan: Sendable {
    /// The treatment of connections for which no script remains.
    package enum Afterwards: Sendable {
        /// They follow the last script.
        case repeatLast
        /// They are closed when they are accepted.
        case refuse
        /// The next connection is closed together with the listener, so that the kernel refuses further clients.
        case stopListening
    }

    /// The plan's decision about one connection.
    enum Decision {
        case follow(Script)
        case refuse
        case stopListening
    }

    /// The scripts, in order.
    package let scripts: [Script]
    /// The treatment of connections for which no script remains.
    package let afterwards: Afterwards
    /// The number of connections about which `nextDecision` has decided.
    private let decisionCount = Lock(0)

    /// Creates a plan in which the first connection follows the first script, and so on.
    package init(_ scripts: [Script], afterwards: Afterwards = .repeatLast) {
        self.scripts = scripts
        self.afterwards = afterwards
    }

    /// Creates a plan with one script for all connections.
    package convenience init(on layer: Script.Layer = .content, _ steps: Script.Step...) {
        self.init([Script(steps, on: layer)])
    }

    /// Returns the decision about the connection with number `index`, from 0.
    func decision(for index: Int) -> Decision {
        if index < scripts.count { return .follow(scripts[index]) }
        switch afterwards {
        case .repeatLast:
            guard let last = scripts.last else { return .refuse }
            return .follow(last)
        case .refuse: return .refuse
        case .stopListening: return .stopListening
        }
    }

    /// Returns the decision about the next connection, and counts the connection.
    func nextDecision() -> Decision {
        // The count before this connection is its index.
        let index = decisionCount.withLock { count in
            defer { count += 1 }
            return count
        }
        return decision(for: index)
    }
}
