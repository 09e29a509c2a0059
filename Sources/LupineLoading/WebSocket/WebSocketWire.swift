// SPDX-License-Identifier: MIT

import LupineTransport

/// The transport of a WebSocket after the opening handshake. Must be used on its loop.
protocol WebSocketWire: AnyObject {
    /// Sends bytes. Returns how many bytes are buffered; nil if sending failed, so that the connection is about to end. Calls no
    /// handler before it returns.
    func send(_ bytes: [UInt8]) -> Int?
    /// Whether the current turn of the loop has taken long.
    var isLate: Bool { get }
    /// Runs a step in the loop's next turn.
    func later(_ step: @escaping () -> Void)
    /// Resumes reading after a `.pause`.
    func resume()
    /// Closes the connection immediately. Its handler is not called any more.
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

    /// - Parameters:
    ///   - connection: The connection after its upgrade.
    ///   - closeTimeout: How long each step of the closing handshake may take.
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
