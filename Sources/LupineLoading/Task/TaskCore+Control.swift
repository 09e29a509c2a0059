// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The program's operations on a task. They make no callback before they return (T-1).
extension TaskCore {
    /// Starts the task, or continues it.
    func resume() {
        let (action, isUnadmitted) = state.withLock { state in
            (state.machine.handle(.resume), state.isUnadmitted)
        }
        switch action {
        case .start:
            if isUnadmitted { endUnadmitted() } else { startLoad() }
        case .setSuspended: passSuspension()
        case .none, .stop, .endUnstarted, .complete, .completeCancelled: break
        }
    }

    /// Suspends the task.
    func suspend() {
        let action = state.withLock { $0.machine.handle(.suspend) }
        if case .setSuspended = action { passSuspension() }
    }

    /// Cancels the task.
    ///
    /// - Parameter first: Called on the delegate queue before the task completes, or later if the task has completed already.
    func cancel(first: (@Sendable () -> Void)? = nil) {
        if let first { callUnconditionally(first) }
        let (action, load, isUnadmitted) = state.withLock { state in
            (state.machine.handle(.cancel), state.load, state.isUnadmitted)
        }
        switch action {
        case .stop:
            dropCalls()
            load?.cancel(cancellation)
        case .endUnstarted:
            dropCalls()
            if isUnadmitted { endUnadmitted() } else { endUnstarted() }
        case .none, .start, .setSuspended, .complete, .completeCancelled: break
        }
    }

    /// Cancels the task so that another task can resume its download. Calls `handler` once, with resume data or nil, on the
    /// delegate queue.
    func askForResumeData(_ handler: @escaping @Sendable (Data?) -> Void) {
        state.withLock { $0.sink }.askForResumeData(self, handler)
    }

    /// Ends the load with an error that is not the program's cancellation. The task completes with `error`.
    func fail(_ error: URLError) { state.withLock { $0.load }?.cancel(error) }

    /// Resumes reading after a sink has returned `.pause`.
    func resumeReading() { state.withLock { $0.load }?.resumeReading() }

    /// Directs the content after the next `resumeReading()` into the file. Content that has to be decoded still goes to the sink.
    func save(into target: FileTarget) { state.withLock { $0.load }?.save(into: target) }

    var priority: Float {
        get { state.withLock { $0.priority } }
        set {
            guard !newValue.isNaN else { return }
            let priority = min(max(newValue, 0), 1)
            let load = state.withLock { state in
                state.priority = priority
                return state.load
            }
            load?.setPriority(priority)
        }
    }

    /// Makes the task prefer connections of the preference's loop. Call before the task is resumed.
    func prefer(_ preference: LoopPreference) { state.withLock { $0.preference = preference } }

    /// The error that a cancelled task completes with.
    var cancellation: URLError { URLError.cancelled(url: currentRequest?.url) }

    // MARK: the load

    /// Creates the load and starts it.
    private func startLoad() {
        guard let loadFactory = state.withLock({ $0.loadFactory.take() }) else { return }
        let load = loadFactory.load(for: self)
        let (priority, isCancelled, preference) = state.withLock { state in
            state.load = load
            return (state.priority, state.machine.state == .cancelling, state.preference)
        }
        // `LoopPreference()` is that of the calling thread.
        if let loop = preference?.loop ?? LoopPreference().loop { load.prefer(loop) }
        if priority != URLSessionTask.defaultPriority { load.setPriority(priority) }
        if isCancelled { load.cancel(cancellation) }
        load.start()
        passSuspension(lastPassed: false)
    }

    /// Passes the suspension to the load until it is unchanged afterwards: other threads may change and pass it at the same time.
    ///
    /// - Parameter lastPassed: The value that the load got before; nil if unknown.
    private func passSuspension(lastPassed: Bool? = nil) {
        var passed = lastPassed
        while true {
            let (load, isSuspended) = state.withLock { state in
                (state.load, state.machine.state == .suspended)
            }
            guard let load, isSuspended != passed else { return }
            load.setSuspended(isSuspended)
            passed = isSuspended
        }
    }

    /// Ends a task that was cancelled before it was started. The sink and the delegate get the end as that of any other task
    /// (T-4).
    private func endUnstarted() {
        driverEnded(
            cancellation,
            URLSessionTaskMetrics(hops: [], redirectCount: 0, created: created, completed: Date()))
    }

    /// Ends a task of an invalid session. Only its completion handler is called, and no delegate (U-4.4).
    private func endUnadmitted() {
        let error = cancellation
        let (sink, publicTask, session) = state.withLock { state in
            // The action is discarded, because there is no load with a result.
            _ = state.machine.handle(.finish)
            state.error = error
            defer { (state.unadmittedTask, state.session) = (nil, nil) }
            return (state.sink, state.unadmittedTask, state.session)
        }
        guard let publicTask, let session else { return }
        let participants = CallbackContext.Participants(
            session: session, task: publicTask, sink: sink, own: nil)
        callUnconditionally { sink.completed(CallbackContext(participants, callsDelegates: false), error) }
    }
}
