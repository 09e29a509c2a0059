// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The operations that the program calls on a task. None makes a callback before it returns (T-1).
extension TaskCore {
    /// Starts the task, or continues it after a suspension.
    func resume() {
        let (action, isUnadmitted) = state.withLock { state in
            (state.machine.handle(.resume), state.isUnadmitted)
        }
        switch action {
        case .start:
            if isUnadmitted { endUnadmitted() } else { startLoad() }
        case .setSuspended: passSuspension()
        case .none, .cancelLoad, .endUnstarted, .complete, .completeCancelled: break
        }
    }

    /// Suspends the task.
    func suspend() {
        let action = state.withLock { $0.machine.handle(.suspend) }
        if case .setSuspended = action { passSuspension() }
    }

    /// Cancels the task.
    ///
    /// - Parameter first: A closure that is called on the delegate queue before the task completes. If the task has completed
    ///   already, it is still called.
    func cancel(callingFirst first: (@Sendable () -> Void)? = nil) {
        if let first { callUnconditionally(first) }
        let (action, load, isUnadmitted) = state.withLock { state in
            (state.machine.handle(.cancel), state.load, state.isUnadmitted)
        }
        switch action {
        case .cancelLoad:
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

    /// Ends the load with `error`, and the task completes with that error. Used for failures, not for a cancellation by the
    /// program.
    func fail(_ error: URLError) { state.withLock { $0.load }?.cancel(error) }

    /// Resumes reading after a sink has returned `.pause`.
    func resumeReading() { state.withLock { $0.load }?.resumeReading() }

    /// Directs the content after the next `resumeReading()` into the file. Content that has to be decoded still goes to the sink.
    func save(into target: FileTarget) { state.withLock { $0.load }?.save(into: target) }

    var priority: Float {
        get { state.withLock { $0.priority } }
        set {
            guard !newValue.isNaN else { return }
            // The range of priorities is 0...1.
            let priority = min(max(newValue, 0), 1)
            let load = state.withLock { state in
                state.priority = priority
                return state.load
            }
            load?.setPriority(priority)
        }
    }

    /// Makes the task prefer connections of the preference's loop. Call before the task is resumed.
    func prefer(_ preference: LoopPreference) { state.withLock { $0.loopPreference = preference } }

    /// The error that a cancelled task completes with.
    var cancellation: URLError { URLError.cancelled(url: currentRequest?.url) }

    // MARK: the load

    /// Creates the load and starts it.
    private func startLoad() {
        // Nil if the load has been made or the task has finished.
        guard let loadFactory = state.withLock({ $0.loadFactory.take() }) else { return }
        let load = loadFactory.load(for: self)
        let (priority, isCancelled, loopPreference) = state.withLock { state in
            state.load = load
            return (state.priority, state.machine.state == .cancelling, state.loopPreference)
        }
        // `LoopPreference()` is the preference of the calling thread.
        if let loop = loopPreference?.loop ?? LoopPreference().loop { load.prefer(loop) }
        if priority != URLSessionTask.defaultPriority { load.setPriority(priority) }
        // The program may have cancelled or suspended the task while the load was being made.
        if isCancelled { load.cancel(cancellation) }
        load.start()
        // A new load is not suspended.
        passSuspension(lastPassed: false)
    }

    /// Passes the suspension to the load, and repeats that until the suspension has not changed meanwhile. Other threads may
    /// change the suspension and pass it on at the same time.
    ///
    /// - Parameter lastPassed: The suspension that was last passed to the load; nil if unknown.
    private func passSuspension(lastPassed: Bool? = nil) {
        var lastPassed = lastPassed
        while true {
            let (load, isSuspended) = state.withLock { state in
                (state.load, state.machine.state == .suspended)
            }
            guard let load, isSuspended != lastPassed else { return }
            load.setSuspended(isSuspended)
            lastPassed = isSuspended
        }
    }

    /// Ends a task that was cancelled before it was started. The sink and the delegate receive its end like the end of any other
    /// task (T-4).
    private func endUnstarted() {
        driverEnded(
            cancellation,
            URLSessionTaskMetrics(hops: [], redirectCount: 0, created: created, completed: Date()))
    }

    /// Ends a task that was created in an invalid session. Its completion handler is called, but no delegate (U-4.4).
    private func endUnadmitted() {
        let error = cancellation
        let (sink, publicTask, session) = state.withLock { state in
            // The action is ignored: it completes the task with the result of its load, and this task has no load.
            _ = state.machine.handle(.finish)
            state.error = error
            defer { (state.unadmittedTask, state.session) = (nil, nil) }
            return (state.sink, state.unadmittedTask, state.session)
        }
        guard let publicTask, let session else { return }
        let participants = CallbackContext.Participants(
            session: session, task: publicTask, sink: sink, ownDelegates: nil)
        callUnconditionally { sink.completed(CallbackContext(participants, callsDelegates: false), error) }
    }
}
