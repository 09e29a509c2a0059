// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The implementation of `URLSessionTask`: the state of a task, and the calls that are queued for the delegate queue.
///
/// One lock guards the state; nothing is called under the lock. The core retains its task object and its session from `begin` to
/// the last call of the task, and the load from `resume` to its end, so that an unfinished task stays alive even if nothing else
/// retains it.
final class TaskCore: Sendable {
    /// Byte counts as the program sees them.
    struct Counts: Sendable {
        var received: Int64 = 0
        var sent: Int64 = 0
        var expectedToReceive: Int64 = NSURLSessionTransferSizeUnknown
        var expectedToSend: Int64 = 0
    }

    /// Properties that the program may set on a task. They have no effect on the load.
    struct Hints: Sendable {
        var countOfBytesToReceive: Int64 = NSURLSessionTransferSizeUnknown
        var countOfBytesToSend: Int64 = NSURLSessionTransferSizeUnknown
        var earliestBeginDate: Date?
        var prefersIncrementalDelivery = true
        var description: String?
    }

    struct State {
        var machine = TaskMachine()
        var delivery = TaskDelivery()
        /// The task object, from `begin` to the last call of the task; nil for an unadmitted task.
        var publicTask: URLSessionTask?
        /// The task object of a task that its session has not admitted.
        weak var unadmittedTask: URLSessionTask?
        var session: URLSession?
        /// Whether the session has not admitted the task: it was created in a session that was invalid already (U-4.4).
        var isUnadmitted = false
        var sink: any TaskSink
        /// Makes the load; nil once the load is made or the task has finished. The factory holds the session's context, which
        /// must not live as long as the program retains the task.
        var loadFactory: LoadFactory?
        var load: (any TaskLoad)?
        var currentRequest: URLRequest?
        /// The value of `Authorization` that was sent with the current request as the answer to a challenge.
        var sentAuthorization: String?
        var response: URLResponse?
        var error: (any Error)?
        /// The task's own delegate; nil if the program has set none.
        var ownDelegates: DelegateSet?
        /// Whether the delegate only collects the content, so that pieces may be joined.
        var delegateOnlyCollects = false
        /// The credential that the program has set on the task to answer challenges.
        var credential: URLCredential?
        /// The judges of the task on whose behalf this task loads; nil for other tasks.
        var principalJudges: [ObjectToken]?
        /// The Swift tasks in which a delegate's asynchronous method answers the open question.
        var asyncAnswers: [Task<Void, Never>] = []
        /// Whether a redirect has led to another origin than that of the original request.
        var hasLeftOrigin = false
        /// Whether the session was created with a delegate, which it retains as long as it has tasks.
        var sessionHasDelegate = false
        /// Whether the response is stored unchanged, without asking the session's delegate.
        var storesWithoutAsking = false
        var priority = URLSessionTask.defaultPriority
        /// The loop whose connections are preferred; nil prefers the loop whose job first resumes the task.
        var preference: LoopPreference?
        var counts = Counts()
        var hints = Hints()
        var progress: Progress?
        /// The outcome of the load; nil until the load has ended.
        var outcome: Outcome?
        /// Cancels the time limit for the delegate's answer after the end of the load; nil if there is none.
        var alarm: SessionClock.Cancel?
        /// The progress of sending that has not been reported to the delegate.
        var unreportedSent: SentReport?
        /// The number of bytes of this transmission that has been reported to the delegate.
        var reportedSent: Int64 = 0
        /// Created when a program's `URLProtocol` is first called for the task.
        var protocols: ProtocolContext?

        /// Returns the participants of callbacks unless `context` still has them: after a conversion the task object is another
        /// one. Nil also if there is no task object.
        func participants(ifNewSince context: CallbackContext?) -> CallbackContext.Participants? {
            guard let publicTask, let session, publicTask !== context?.task else { return nil }
            return CallbackContext.Participants(
                session: session, task: publicTask, sink: sink, own: ownDelegates)
        }
    }

    /// Makes the load of a task.
    enum LoadFactory: Sendable {
        /// Makes the load of a task definition with the session's `LoadMaker`.
        case definition(TaskDefinition, SessionContext, maker: LoadMaker)
        /// Makes another load, for stream tasks, web sockets and tasks that fail.
        case other(@Sendable (TaskCore) -> any TaskLoad)

        func load(for task: TaskCore) -> any TaskLoad {
            switch self {
            case .definition(let definition, let context, let maker): maker(definition, context, task)
            case .other(let make): make(task)
            }
        }
    }

    /// The outcome of a load.
    struct Outcome: Sendable {
        /// The error that the load has ended with.
        var cause: (any Error)?
        var metrics: URLSessionTaskMetrics
        /// The error that the sink has returned for `cause`: the task completes with it.
        var error: (any Error)?
    }

    /// The number of bytes of the body that have been sent, and its expected length.
    struct SentReport: Sendable {
        var total: Int64
        var expected: Int64
    }

    let identifier: Int
    let originalRequest: URLRequest?
    let created: Date
    /// The session's delegate queue; nil for a task that no session has created, which makes no calls.
    let queue: DelegateQueue?
    let state: Lock<State>

    /// - Parameter bodyLength: The length of the request's body; -1 if it is unknown.
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
                counts: Counts(expectedToSend: bodyLength)))
    }

    /// Creates the core of a task that no session has created. Its load fails.
    static func withoutSession() -> TaskCore {
        TaskCore(
            0, originalRequest: nil, queue: nil, sink: DelegateSink.shared,
            loadFactory: .other { task in
                FailedLoad(URLError(.unsupportedURL), created: task.created, client: task)
            })
    }

    /// Adds the task to the session, and reports it to the delegate.
    ///
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
    var protocols: ProtocolContext {
        state.withLock { state in
            if let protocols = state.protocols { return protocols }
            let new = ProtocolContext()
            state.protocols = new
            return new
        }
    }

    // MARK: properties

    var isUnadmitted: Bool { state.withLock { $0.isUnadmitted } }
    var publicTask: URLSessionTask? { state.withLock { $0.publicTask } }
    var session: URLSession? { state.withLock { $0.session } }
    var taskState: URLSessionTask.State { state.withLock { $0.machine.publicState } }
    var currentRequest: URLRequest? { state.withLock { $0.currentRequest } }
    var response: URLResponse? { state.withLock { $0.response } }
    var error: (any Error)? { state.withLock { $0.error } }
    var counts: Counts { state.withLock { $0.counts } }
    var ownDelegates: DelegateSet? { state.withLock { $0.ownDelegates } }
    var consumer: (any TaskConsumer)? { (state.withLock { $0.sink } as? DelegateSink)?.consumer }

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
            let new = newValue.map { DelegateSet($0) }
            // Ignored once the task has been resumed or cancelled. The unused delegate is released outside of the lock.
            let previous = state.withLock { state -> DelegateSet? in
                guard state.machine.state == .notStarted else { return new }
                defer { state.ownDelegates = new }
                return state.ownDelegates
            }
            _ = previous
        }
    }
}
