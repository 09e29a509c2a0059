// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Carries out a task. `TaskDriver` is the load of most tasks; stream tasks, web sockets and tasks that fail have other loads.
/// All methods may be called on any thread, and none blocks. A load calls its client as `TaskDriverClient` describes.
protocol TaskLoad: AnyObject, Sendable {
    /// Starts the load. Called once; `cancel` may have been called before.
    func start()
    /// Ends the load with `error`. The client still receives `driverEnded`, once.
    func cancel(_ error: URLError)
    /// Resumes after the client has returned `.pause`.
    func resumeReading()
    /// Directs the content after the next `resumeReading()` into the file. Content that has to be decoded still goes to
    /// `driverReceivedContent`.
    func save(into target: FileTarget)
    /// Suspends the transfer, or resumes it.
    func setSuspended(_ isSuspended: Bool)
    /// Sets the priority, 0...1, among the loads that wait for a connection.
    func setPriority(_ priority: Float)
    /// Sets the loop whose connections are preferred. Called before `start`.
    func prefer(_ loop: EventLoop)
    /// Calls `action` once, with the error, when the resource time-out expires. A task uses this if it waits for an answer of the
    /// program after its load has ended. Returns a closure that cancels the call.
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
    /// Reports the end to the client, once.
    private let endReceiver: FirstAnswerReceiver<URLError>

    /// Creates a load that has not started.
    ///
    /// - Parameters:
    ///   - error: The error that the load ends with.
    ///   - created: When the task was created.
    ///   - client: The task.
    init(_ error: URLError, created: Date, client: any TaskDriverClient) {
        self.error = error
        endReceiver = FirstAnswerReceiver { error in
            client.driverEnded(
                error,
                URLSessionTaskMetrics(hops: [], redirectCount: 0, created: created, completed: Date()))
        }
    }

    func start() { endReceiver.receive(error) }
    func cancel(_ error: URLError) { endReceiver.receive(error) }
    func resumeReading() {}
    func setSuspended(_ isSuspended: Bool) {}
    func setPriority(_ priority: Float) {}
}
