// SPDX-License-Identifier: MIT

import LupineTransport

/// The connection of a WebSocket after the opening handshake, with one timer. Must be used on its event loop.
protocol WebSocketWire: AnyObject {
    /// Sends bytes. Returns how many bytes the wire has buffered because the kernel has not accepted them. Returns nil if sending
    /// has failed; the connection is then about to end. Calls no handler before it returns.
    func send(_ bytes: [UInt8]) -> Int?
    /// Whether the current turn of the loop, its pass over its connections and jobs, has taken so long that work should wait for
    /// the next one.
    var isLate: Bool { get }
    /// Runs `work` in the loop's next turn.
    func runInNextTurn(_ work: @escaping () -> Void)
    /// Resumes reading after a `.pause`.
    func resume()
    /// Closes the connection immediately. Its handler is not called again.
    func close()
    /// Starts or restarts the timer; `body` runs when it expires.
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
    func runInNextTurn(_ work: @escaping () -> Void) { connection.loop.executeOnLoop(work) }

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
        // The result, whether the timer had not expired, does not matter.
        if let timer = timer.take() { _ = connection.loop.cancel(timer) }
    }
}
