// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The end of a task: from the end of its load to the last call of the delegate and the removal from the session.
///
/// A task ends with a turn on the delegate queue, or on the thread on which its load has ended. The outcome of the load is part
/// of the task's state.
struct TaskEnding {
    /// How a load has ended.
    struct Outcome: Sendable {
        /// The error that the load has ended with; nil after a success.
        var cause: (any Error)?
        var metrics: URLSessionTaskMetrics
        /// The error that the task completes with. The sink returns it for `cause`.
        var error: (any Error)?
    }

    /// The objects that a completed task calls for the last time and releases, outside of the lock.
    struct Completion: Sendable {
        let error: (any Error)?
        let sink: any TaskSink
        /// Cancels the time limit for the delegate's answer.
        let cancelAnswerTimeout: SessionClock.Cancel?
        let loadFactory: TaskCore.LoadFactory?
        let load: (any TaskLoad)?
    }

    private let task: TaskCore

    init(of task: TaskCore) { self.task = task }

    /// Records the end of the load, and requests the turn on the delegate queue that finishes the task. In two cases the task
    /// finishes on the calling thread instead: if its consumer is the only listener, or if it has no delegate and its sink may
    /// complete on any thread.
    func loadEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        // `onlyListener` is nil if the delegate receives the calls.
        if let sink = task.state.withLock({ $0.sink }) as? DelegateSink, let consumer = sink.onlyListener,
            endForConsumer(consumer, error, metrics)
        {
            return
        }
        let needsQueue = task.hasDelegate
        let (needsTurn, isDirect, isAsking) = task.state.withLock { state in
            // Only the first end counts.
            guard state.outcome == nil else { return (false, false, false) }
            state.outcome = Outcome(cause: error, metrics: metrics)
            let isAsking = state.delivery.isAsking
            return (state.delivery.end(), !needsQueue && state.sink.completesOnAnyThread, isAsking)
        }
        if isAsking { task.limitWaitForAnswer() }
        if !needsTurn { return }
        // The turn has to run: on the delegate queue, or here if that calls no code of the program.
        guard isDirect else { return task.requestTurn() }
        // The Swift task that awaits the end may release the task and the session at once. The queue retains them a little
        // longer, so that objects which the program has attached to them are deallocated on the queue and not on this thread.
        let session = task.state.withLock { $0.session }
        task.queue?.add { [task] in withExtendedLifetime((task, session)) {} }
        TaskTurn(of: task, onAnyThread: true).run()
    }

    /// Completes the task for its consumer on the calling thread, and returns true. Does nothing and returns false if the load
    /// has ended before, if a step or turn is queued, or if the task has a delegate of its own or a progress object.
    private func endForConsumer(
        _ consumer: any TaskConsumer, _ cause: (any Error)?, _ metrics: URLSessionTaskMetrics
    ) -> Bool {
        let completion = task.state.withLock { state -> Completion? in
            guard state.outcome == nil, state.ownDelegates == nil, state.transfer.progress == nil,
                state.delivery.finishWithoutTurn()
            else { return nil }
            state.outcome = Outcome(cause: cause, metrics: metrics, error: cause)
            return state.complete()
        }
        guard let completion else { return false }
        completion.cancelAnswerTimeout?()
        consumer.end(completion.error, metrics)
        if let participants = task.state.withLock({ $0.takeParticipants() }) {
            participants.session.core.taskFinished(task.identifier, of: participants.session)
        }
        return true
    }

    /// Called when the resource time-out expires after the end of the load. Abandons the open and queued questions; the task then
    /// completes with `error`.
    fileprivate func answerTimedOut(_ error: URLError) {
        task.dropSteps { state in
            if state.delivery.hasQuestion { state.outcome?.cause = error }
            return state.delivery.abandonQuestions()
        }
    }

    /// Makes the last two calls, metrics and completion (U-5.1), and removes the task from its session.
    func finish(_ context: CallbackContext) {
        let (metrics, progress, completion) = task.state.withLock { state in
            (state.outcome?.metrics, state.transfer.progress, state.complete())
        }
        completion.cancelAnswerTimeout?()
        progress?.complete()
        if let metrics {
            context.delegates.task?.urlSession(
                context.session, task: context.task, didFinishCollecting: metrics)
        }
        assertNoLockIsHeld()
        completion.sink.completed(context, completion.error)
        // `context` retains the participants until this method returns. They are therefore not deallocated under the lock, nor
        // later on the thread that releases the task.
        // Nil if the task has been removed from its session before.
        if task.state.withLock({ $0.takeParticipants() }) != nil {
            context.session.core.taskFinished(task.identifier, of: context.session)
        }
    }

    // MARK: tasks without a load

    /// Ends a task that was cancelled before it was started. The sink and the delegate receive its end like the end of any other
    /// task (T-4).
    func endUnstarted() {
        task.driverEnded(
            task.cancellation,
            URLSessionTaskMetrics(hops: [], redirectCount: 0, created: task.created, completed: Date()))
    }

    /// Ends a task that was created in an invalid session. Its completion handler is called, but no delegate (U-4.4).
    func endUnadmitted() {
        let error = task.cancellation
        let (sink, publicTask, session) = task.state.withLock { state in
            // The action is ignored: it completes the task with the result of its load, and this task has no load.
            _ = state.machine.handle(.finish)
            state.error = error
            defer { (state.unadmittedTask, state.session) = (nil, nil) }
            return (state.sink, state.unadmittedTask, state.session)
        }
        guard let publicTask, let session else { return }
        let participants = CallbackContext.Participants(
            session: session, task: publicTask, sink: sink, ownDelegates: nil)
        task.callUnconditionally {
            sink.completed(CallbackContext(participants, callsDelegates: false), error)
        }
    }
}

extension TaskCore.State {
    /// Moves the task to the state `completed`. Removes and returns the objects that the task does not need after that.
    fileprivate mutating func complete() -> TaskEnding.Completion {
        error = outcome?.error
        let action = machine.handle(.finish)
        if action == .completeCancelled {
            error = sink.errorOfCancelledTask(error, URLError.cancelled(url: currentRequest?.url))
        }
        return TaskEnding.Completion(
            error: error, sink: sink, cancelAnswerTimeout: cancelAnswerTimeout.take(),
            loadFactory: loadFactory.take(), load: load.take())
    }

    /// Removes and returns the session, the delegates and the sink of a completed task. The sink is replaced by one without
    /// state, because it may retain an object that retains the task. Returns nil if this was called before.
    fileprivate mutating func takeParticipants() -> CallbackContext.Participants? {
        defer { (publicTask, session, ownDelegates, sink) = (nil, nil, nil, DelegateSink.shared) }
        guard let publicTask, let session else { return nil }
        return CallbackContext.Participants(
            session: session, task: publicTask, sink: sink, ownDelegates: ownDelegates)
    }
}

extension TaskCore {
    /// After the end of the load, limits the wait for the delegate's answer: it ends when the resource time-out expires (U-5.10).
    func limitWaitForAnswer() {
        guard let load = state.withLock({ $0.load }) else { return }
        // Retains the task until it has finished, which cancels the call.
        let cancel = load.atResourceTimeout { TaskEnding(of: self).answerTimedOut($0) }
        // The task may have finished, or have set a limit on another thread, meanwhile.
        let isUnneeded = state.withLock { state in
            if state.load == nil || state.cancelAnswerTimeout != nil { return true }
            state.cancelAnswerTimeout = cancel
            return false
        }
        if isUnneeded { cancel() }
    }
}
