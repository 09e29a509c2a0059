// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// What carries a task out: the driver, or another kind of load for tasks that are no HTTP. Any thread; nothing blocks.
/// The rules are those of `TaskDriverClient`.
protocol TaskLoad: AnyObject, Sendable {
    /// Begins. Called once; `cancel` may have been called before.
    func start()
    /// Ends with that error. The client still hears `driverEnded`, once.
    func cancel(_ error: URLError)
    /// Goes on after a `.pause`.
    func resumeReading()
    /// What comes after the next `resumeReading()` may go into the file; what does not still comes to `driverReceived`.
    func save(into target: FileTarget)
    /// Whether bytes may move.
    func setSuspended(_ isSuspended: Bool)
    /// Which of those that wait for a connection goes first.
    func setPriority(_ priority: Float)
    /// Whose connections it had best have. Before `start`.
    func prefer(_ loop: EventLoop)
    /// For a load that has ended, and whose task has not: calls back with the error when the time for the whole is over, once,
    /// unless that is taken back before.
    func whenTimeIsUp(_ ring: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel
}

extension TaskLoad {
    func prefer(_ loop: EventLoop) {}
    func save(into target: FileTarget) {}
    func whenTimeIsUp(_ ring: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel { {} }
}

extension TaskDriver: TaskLoad {}

/// Makes the load of a task.
typealias LoadMaker = @Sendable (TaskOrder, SessionContext, any TaskDriverClient) -> any TaskLoad

/// A load that fails as soon as it begins.
final class FailedLoad: TaskLoad {
    private let error: URLError
    private let client: OneAnswer<URLError>

    /// - Parameter created: When the task was made.
    init(_ error: URLError, created: Date, client: any TaskDriverClient) {
        self.error = error
        self.client = OneAnswer { error in
            client.driverEnded(
                error,
                URLSessionTaskMetrics(hops: [], redirectCount: 0, created: created, completed: Date()))
        }
    }

    func start() { client.give(error) }
    func cancel(_ error: URLError) { client.give(error) }
    func resumeReading() {}
    func setSuspended(_ isSuspended: Bool) {}
    func setPriority(_ priority: Float) {}
}
