// SPDX-License-Identifier: MIT

import LupineTransport

/// The transport of a WebSocket after the handshake. All calls are on its loop.
protocol WebSocketWire: AnyObject {
    /// Sends bytes, in order. Returns how many are buffered; nil when they cannot be sent, and the connection is about to end.
    /// Calls no handler before it returns.
    func send(_ bytes: [UInt8]) -> Int?
    /// Whether the current turn of the loop has taken long.
    var isLate: Bool { get }
    /// Runs a step in the loop's next turn.
    func later(_ step: @escaping () -> Void)
    /// Resumes reading after a `.pause`.
    func resume()
    /// Closes immediately. The conversation gets no more calls.
    func close()
    /// Starts or restarts the only timer; `body` runs when it expires.
    func startTimer(_ body: @escaping () -> Void)
    /// Cancels the timer.
    func cancelTimer()
}

/// An upgraded connection with the timer that bounds its closing handshake.
final class UpgradedWire: WebSocketWire {
    private let connection: UpgradedConnection
    private let closeTimeout: Duration
    private var timer: EventLoop.TimerToken?

    /// - Parameter patience: How long each step of the closing handshake may take.
    init(_ connection: UpgradedConnection, closeTimeout: Duration) {
        self.connection = connection
        self.closeTimeout = closeTimeout
    }

    func send(_ bytes: [UInt8]) -> Int? { connection.send(bytes) }
    func resume() { connection.resume() }
    var isLate: Bool { connection.loop.isLate }
    func later(_ step: @escaping () -> Void) { connection.loop.executeOnLoop(step) }

    func close() {
        cancelTimer()
        connection.close()
    }

    func startTimer(_ body: @escaping () -> Void) {
        cancelTimer()
        timer = connection.loop.schedule(after: closeTimeout) { [weak self] reason in
            self?.timer = nil
            if reason == .due { body() }
        }
    }

    func cancelTimer() {
        if let timer = timer.take() { _ = connection.loop.cancel(timer) }
    }
}
