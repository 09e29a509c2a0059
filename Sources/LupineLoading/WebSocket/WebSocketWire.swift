// SPDX-License-Identifier: MIT

import LupineTransport

/// What a web socket speaks over, once HTTP is behind it. All calls on its loop.
protocol WebSocketWire: AnyObject {
    /// Sends bytes, in order. Returns how many wait in memory; nil when they cannot go, and the connection is about to end. Calls
    /// nobody back before it returns.
    func send(_ bytes: [UInt8]) -> Int?
    /// Whether this turn of the loop has gone on for long.
    var isLate: Bool { get }
    /// Does something in the loop's next turn.
    func later(_ step: @escaping () -> Void)
    /// Goes on reading after a `.pause`.
    func resume()
    /// Closes at once. The conversation hears no more.
    func close()
    /// Starts the one timer, or starts it anew; `body` when it is over.
    func startTimer(_ body: @escaping () -> Void)
    /// Ends the timer.
    func cancelTimer()
}

/// An upgraded connection with the timer that bounds its closing handshake.
final class UpgradedWire: WebSocketWire {
    private let connection: UpgradedConnection
    private let patience: Duration
    private var timer: EventLoop.TimerToken?

    /// - Parameter patience: How long each step of the closing handshake may take.
    init(_ connection: UpgradedConnection, patience: Duration) {
        self.connection = connection
        self.patience = patience
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
        timer = connection.loop.schedule(after: patience) { [weak self] reason in
            self?.timer = nil
            if reason == .due { body() }
        }
    }

    func cancelTimer() {
        if let timer = timer.take() { _ = connection.loop.cancel(timer) }
    }
}
