// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Carries out a task: a `TaskDriver`, or another load for stream tasks, web sockets and tasks that fail. Any thread may call; no
/// method blocks. A load calls its client as `TaskDriverClient` describes.
protocol TaskLoad: AnyObject, Sendable {
    /// Starts the load. Called once; `cancel` may have been called before.
    func start()
    /// Ends the load with `error`. The client still gets `driverEnded`, once.
    func cancel(_ error: URLError)
    /// Resumes after the client has returned `.pause`.
    func resumeReading()
    /// Directs the content after the next `resumeReading()` into the file. Content that has to be decoded still goes to
    /// `driverReceivedContent`.
    func save(into target: FileTarget)
    /// Suspends the transfer, or resumes it.
    func setSuspended(_ isSuspended: Bool)
    /// Sets the priority among the loads that wait for a connection.
    func setPriority(_ priority: Float)
    /// Sets the loop whose connections are preferred. Called before `start`.
    func prefer(_ loop: EventLoop)
    /// Calls `action` once, with the error, when the resource time-out expires. Used by a task that is not finished although its
    /// load has ended. The returned closure cancels the call.
    func atResourceTimeout(_ action: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel
}

extension TaskLoad {
    func prefer(_ loop: EventLoop) {}
    func save(into target: FileTarget) {}
    func atResourceTimeout(_ action: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel { {} }
}

/// Makes the load of a task.
typealias LoadMaker = @Sendable (TaskDefinition, SessionContext, any TaskDriverClient) -> any TaskLoad

/// A load that fails as soon as it is started.
final class FailedLoad: TaskLoad {
    private let error: URLError
    private let client: OneAnswer<URLError>

    /// - Parameters:
    ///   - error: The error that the load ends with.
    ///   - created: When the task was created.
    ///   - client: The task.
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
