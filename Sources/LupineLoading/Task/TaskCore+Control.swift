// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The operations of the program on a task. Nothing is called back before they return (T-1).
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
    /// - Parameter first: Called on the delegate queue before the task completes; called also if the task has completed
    ///   already.
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

    /// Ends the task so that another one can resume its download.
    func askForResumeData(_ handler: @escaping @Sendable (Data?) -> Void) {
        state.withLock { $0.sink }.askForResumeData(self, handler)
    }

    /// Ends the load with an error other than a cancellation by the program. The task completes with it.
    func fail(_ error: URLError) { state.withLock { $0.load }?.cancel(error) }

    /// Resumes reading after a sink has returned `.pause`.
    func resumeReading() { state.withLock { $0.load }?.resumeReading() }

    /// Lets content go into the file from the next `resumeReading()` on, as far as it need not be decoded; the rest goes to the
    /// sink.
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

    /// Makes the task prefer connections of that loop. To be called before the task is resumed.
    func prefer(_ preference: LoopPreference) { state.withLock { $0.preference = preference } }

    /// The error that a cancelled task completes with.
    var cancellation: URLError { URLError.cancelled(url: currentRequest?.url) }

    // MARK: the load

    private func startLoad() {
        guard let loadFactory = state.withLock({ $0.loadFactory.take() }) else { return }
        let load = loadFactory.load(for: self)
        let (priority, isCancelled, preference) = state.withLock { state in
            state.load = load
            return (state.priority, state.machine.state == .cancelling, state.preference)
        }
        if let loop = preference?.loop ?? LoopPreference().loop { load.prefer(loop) }
        if priority != URLSessionTask.defaultPriority { load.setPriority(priority) }
        if isCancelled { load.cancel(cancellation) }
        load.start()
        passSuspension(hasPassed: false)
    }

    /// Passes the present suspension to the load, and checks it again afterwards: when calls cross, the last one passes the
    /// right value.
    private func passSuspension(hasPassed: Bool? = nil) {
        var passed = hasPassed
        while true {
            let (load, isHeld) = state.withLock { state in (state.load, state.machine.state == .suspended) }
            guard let load, isHeld != passed else { return }
            load.setSuspended(isHeld)
            passed = isHeld
        }
    }

    /// Ends a task that was cancelled before it was started: the sink and the delegate are told of the end all the same (T-4).
    private func endUnstarted() {
        driverEnded(
            cancellation,
            URLSessionTaskMetrics(hops: [], redirectCount: 0, created: created, completed: Date()))
    }

    /// Ends a task of an invalid session: only the caller that waits for this task is told (U-4.4).
    private func endUnadmitted() {
        let error = cancellation
        let (sink, publicTask, session) = state.withLock { state in
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
