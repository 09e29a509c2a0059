// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The implementation of `URLSessionTask`: it holds the state of a task, and the calls that are queued for the delegate queue.
///
/// One lock guards the state, and no other object is called under the lock. The core retains its task object and its session from
/// `begin` to the last call of the task, and its load from `resume` to the end of the load. An unfinished task therefore stays
/// alive even if nothing else retains it.
final class TaskCore: Sendable {
    /// Properties that the program may set on a task. They have no effect on the load.
    struct Hints: Sendable {
        var countOfBytesToReceive: Int64 = NSURLSessionTransferSizeUnknown
        var countOfBytesToSend: Int64 = NSURLSessionTransferSizeUnknown
        var earliestBeginDate: Date?
        var prefersIncrementalDelivery = true
        var description: String?
    }

    /// The state of the task, which the lock guards.
    struct State {
        /// Decides the task's public state: suspended, running, canceling or completed.
        var machine = TaskMachine()
        /// The calls, questions and content that are queued for the delegate queue.
        var delivery = TaskDelivery()
        /// The task object, from `begin` to the last call of the task; nil for an unadmitted task.
        var publicTask: URLSessionTask?
        /// The task object if the session has not admitted the task.
        weak var unadmittedTask: URLSessionTask?
        /// The session, from `begin` to the last call of the task.
        var session: URLSession?
        /// Whether the session has not admitted the task, because the session was invalid when the task was created (U-4.4).
        var isUnadmitted = false
        /// Receives the response and the end of the task.
        var sink: any TaskSink
        /// Makes the load. Nil once the load has been made or the task has finished, because the factory retains the session's
        /// context, which must not live as long as the program retains the task.
        var loadFactory: LoadFactory?
        /// The running load; nil before the task is resumed and after it has finished.
        var load: (any TaskLoad)?
        var currentRequest: URLRequest?
        /// The value of `Authorization` that was sent with the current request as the answer to a challenge.
        var sentAuthorization: String?
        var response: URLResponse?
        /// The error that the task has completed with.
        var error: (any Error)?
        /// The task's own delegate; nil if the program has set none.
        var ownDelegates: DelegateSet?
        /// Whether the delegate only collects the content. Pieces may then be joined.
        var delegateOnlyCollects = false
        /// The credential that the program has set on the task to answer challenges.
        var credential: URLCredential?
        /// The judges of the task on whose behalf this task loads. They decide whether servers are trusted. Nil if this task
        /// loads for itself.
        var principalJudges: [ObjectToken]?
        /// Whether a redirect has led to another origin than that of the original request.
        var hasLeftOrigin = false
        /// Whether the session was created with a delegate, which it retains as long as it has tasks.
        var sessionHasDelegate = false
        /// Whether the response is stored unchanged, without asking the session's delegate.
        var storesWithoutAsking = false
        var priority = URLSessionTask.defaultPriority
        /// The loop whose connections are preferred. If nil, that is the loop on which the task is first resumed.
        var loopPreference: LoopPreference?
        var transfer: TaskTransfer
        var hints = Hints()
        /// The outcome of the load; nil until the load has ended.
        var outcome: TaskEnding.Outcome?
        /// Cancels the time limit for the delegate's answer after the end of the load; nil if there is none.
        var cancelAnswerTimeout: SessionClock.Cancel?
        /// Created when a program's `URLProtocol` is first called for the task.
        lazy var protocolContext = ProtocolContext()

        /// Returns the participants of callbacks, or nil if `context` has the same ones. They change when the task is converted,
        /// for example into a download task, because the converted task has another task object. Nil also if there is no task
        /// object.
        func participants(ifNewSince context: CallbackContext?) -> CallbackContext.Participants? {
            guard let publicTask, let session, publicTask !== context?.task else { return nil }
            return CallbackContext.Participants(
                session: session, task: publicTask, sink: sink, ownDelegates: ownDelegates)
        }
    }

    /// Makes the load of a task.
    enum LoadFactory: Sendable {
        /// Makes the load of a task definition with the session's `LoadMaker`.
        case definition(TaskDefinition, SessionContext, maker: LoadMaker)
        /// Makes the load of a stream task, of a web socket or of a task that fails.
        case other(@Sendable (TaskCore) -> any TaskLoad)

        func load(for task: TaskCore) -> any TaskLoad {
            switch self {
            case .definition(let definition, let context, let maker): maker(definition, context, task)
            case .other(let make): make(task)
            }
        }
    }

    /// The `taskIdentifier`.
    let identifier: Int
    let originalRequest: URLRequest?
    /// When the task was created.
    let created: Date
    /// The session's delegate queue; nil for a task that no session has created. Such a task calls no delegate.
    let queue: DelegateQueue?
    let state: Lock<State>

    /// Creates the core of a task. `begin` then adds the task to its session.
    ///
    /// - Parameters:
    ///   - identifier: The `taskIdentifier`.
    ///   - originalRequest: The request that the program has passed.
    ///   - queue: The delegate queue.
    ///   - sink: Receives the response and the end of the task.
    ///   - bodyLength: The length of the request's body; -1 if it is unknown.
    ///   - created: When the task was created.
    ///   - loadFactory: Makes the load when the task is resumed.
    init(
        _ identifier: Int, originalRequest: URLRequest?, queue: DelegateQueue?, sink: any TaskSink,
        bodyLength: Int64 = 0, created: Date = Date(),
        loadFactory: LoadFactory
    ) {
        self.identifier = identifier
        self.originalRequest = originalRequest
        self.queue = queue
        self.created = created
        state = Lock(
            State(
                sink: sink, loadFactory: loadFactory, currentRequest: originalRequest,
                transfer: TaskTransfer(bodyLength: bodyLength)))
    }

    /// Adds the task to the session, and reports it to the delegate.
    ///
    /// - Parameters:
    ///   - publicTask: The task object, which the program uses.
    ///   - session: The session.
    ///   - delegate: The task's own delegate; nil for none.
    /// - Returns: `publicTask`.
    func begin<PublicTask: URLSessionTask>(
        as publicTask: PublicTask, in session: URLSession, delegate: DelegateSet? = nil
    )
        -> PublicTask
    {
        state.withLock { state in
            state.publicTask = publicTask
            state.session = session
            state.ownDelegates = delegate
            state.sessionHasDelegate = session.core.hadDelegate
        }
        // False if the session was invalidated before.
        if session.core.admit(self) {
            if delegate != nil || session.core.needsDidCreateTask {
                call { $0.delegates.task?.urlSession($0.session, didCreateTask: $0.task) }
            }
        } else {
            // Neither the session nor the core retains the task object, because the program may never resume the task.
            state.withLock { state in
                state.isUnadmitted = true
                state.unadmittedTask = publicTask
                state.publicTask = nil
            }
        }
        return publicTask
    }

    /// The context in which the program's `URLProtocol`s are called for this task.
    var protocolContext: ProtocolContext { state.withLock { $0.protocolContext } }

    // MARK: properties

    var isUnadmitted: Bool { state.withLock { $0.isUnadmitted } }
    var publicTask: URLSessionTask? { state.withLock { $0.publicTask } }
    var session: URLSession? { state.withLock { $0.session } }
    var taskState: URLSessionTask.State { state.withLock { $0.machine.publicState } }
    var currentRequest: URLRequest? { state.withLock { $0.currentRequest } }
    var response: URLResponse? { state.withLock { $0.response } }
    var error: (any Error)? { state.withLock { $0.error } }
    var counts: TaskTransfer.Counts { state.withLock { $0.transfer.counts } }
    var ownDelegates: DelegateSet? { state.withLock { $0.ownDelegates } }
    /// The consumer that receives the content instead of the delegate; nil for none.
    var consumer: (any TaskConsumer)? { (state.withLock { $0.sink } as? DelegateSink)?.consumer }

    /// The task's progress. Cancelling it cancels the task.
    var progress: Progress {
        let newProgress = Progress(totalUnitCount: NSURLSessionTransferSizeUnknown)
        newProgress.cancellationHandler = { [weak self] in self?.cancel() }
        let (update, isCompleted) = state.withLock {
            ($0.transfer.show(in: newProgress), $0.machine.state == .completed)
        }
        // If an earlier read has created the object, its counts are up to date.
        if update.progress === newProgress {
            update.apply()
            if isCompleted { newProgress.complete() }
        }
        return update.progress
    }

    var hints: Hints {
        get { state.withLock { $0.hints } }
        set { state.withLock { $0.hints = newValue } }
    }

    var credential: URLCredential? {
        get { state.withLock { $0.credential } }
        set { state.withLock { $0.credential = newValue } }
    }

    var hasLeftOrigin: Bool {
        get { state.withLock { $0.hasLeftOrigin } }
        set { state.withLock { $0.hasLeftOrigin = newValue } }
    }

    var storesWithoutAsking: Bool {
        get { state.withLock { $0.storesWithoutAsking } }
        set { state.withLock { $0.storesWithoutAsking = newValue } }
    }

    var taskDescription: String? {
        get { hints.description }
        set { state.withLock { $0.hints.description = newValue } }
    }

    var delegate: (any URLSessionTaskDelegate)? {
        get { ownDelegates?.task }
        set {
            let newDelegates = newValue.map { DelegateSet($0) }
            // The new delegate is ignored once the task has been resumed or cancelled. The closure returns the delegate that is
            // not used, so that it is released outside of the lock.
            let unusedDelegates = state.withLock { state -> DelegateSet? in
                guard state.machine.state == .notStarted else { return newDelegates }
                defer { state.ownDelegates = newDelegates }
                return state.ownDelegates
            }
            _ = unusedDelegates
        }
    }
}

/// The operations that the program calls on a task. None makes a callback before it returns (T-1).
extension TaskCore {
    /// Starts the task, or continues it after a suspension.
    func resume() {
        let (action, isUnadmitted) = state.withLock { state in
            (state.machine.handle(.resume), state.isUnadmitted)
        }
        switch action {
        case .start:
            if isUnadmitted { TaskEnding(of: self).endUnadmitted() } else { startLoad() }
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
            if isUnadmitted {
                TaskEnding(of: self).endUnadmitted()
            } else {
                TaskEnding(of: self).endUnstarted()
            }
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
}
