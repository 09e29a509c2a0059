// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Carries out a task: the driver, or another kind of load for tasks that do not use HTTP. Any thread may call; nothing blocks.
/// The client is called by the rules of `TaskDriverClient`.
protocol TaskLoad: AnyObject, Sendable {
    /// Starts the load. Called once; `cancel` may have been called before.
    func start()
    /// Ends the load with that error. The client still gets `driverEnded`, once.
    func cancel(_ error: URLError)
    /// Resumes after a `.pause`.
    func resumeReading()
    /// Lets the content after the next `resumeReading()` go into the file; content that cannot still goes to `driverReceivedContent`.
    func save(into target: FileTarget)
    /// Suspends the transfer, or resumes it.
    func setSuspended(_ isSuspended: Bool)
    /// Sets the priority among the loads that wait for a connection.
    func setPriority(_ priority: Float)
    /// Sets the loop whose connections are preferred. Called before `start`.
    func prefer(_ loop: EventLoop)
    /// For a load that has ended while its task has not: calls back once, with the error, when the resource time-out expires,
    /// unless cancelled before.
    func atResourceTimeout(_ ring: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel
}

extension TaskLoad {
    func prefer(_ loop: EventLoop) {}
    func save(into target: FileTarget) {}
    func atResourceTimeout(_ ring: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel { {} }
}

/// Makes the load of a task.
typealias LoadMaker = @Sendable (TaskDefinition, SessionContext, any TaskDriverClient) -> any TaskLoad

/// A load that fails as soon as it is started.
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
