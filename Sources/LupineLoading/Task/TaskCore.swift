// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The implementation of `URLSessionTask`: it holds the state of a task, and the calls that are queued for the delegate queue.
///
/// One lock guards the state, and no other object is called under the lock. The core retains its task object and its session from
/// `begin` to the last call of the task, and its load from `resume` to the end of the load. An unfinished task therefore stays
/// alive even if nothing else retains it.
final class TaskCore: Sendable {
    /// The byte counts that the program can read.
    struct Counts: Sendable {
        /// The number of bytes of content that have been received.
        var received: Int64 = 0
        /// The number of bytes of the body that have been sent.
        var sent: Int64 = 0
        /// The length of the content; -1 if it is unknown.
        var expectedToReceive: Int64 = NSURLSessionTransferSizeUnknown
        /// The length of the body; -1 if it is unknown.
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
        /// The Swift tasks in which asynchronous methods of the delegate answer the open question.
        var asyncAnswerTasks: [Task<Void, Never>] = []
        /// Whether a redirect has led to another origin than that of the original request.
        var hasLeftOrigin = false
        /// Whether the session was created with a delegate, which it retains as long as it has tasks.
        var sessionHasDelegate = false
        /// Whether the response is stored unchanged, without asking the session's delegate.
        var storesWithoutAsking = false
        var priority = URLSessionTask.defaultPriority
        /// The loop whose connections are preferred. If nil, that is the loop on which the task is first resumed.
        var loopPreference: LoopPreference?
        var counts = Counts()
        var hints = Hints()
        /// The progress object; nil until the program reads it.
        var progress: Progress?
        /// The outcome of the load; nil until the load has ended.
        var outcome: Outcome?
        /// Cancels the time limit for the delegate's answer after the end of the load; nil if there is none.
        var cancelAnswerTimeout: SessionClock.Cancel?
        /// The progress of sending that is still to be reported to the delegate; nil if there is none.
        var pendingSentReport: SentReport?
        /// The number of bytes of the body that has been reported to the delegate.
        var reportedSentBytes: Int64 = 0
        /// Created when a program's `URLProtocol` is first called for the task.
        var protocolContext: ProtocolContext?

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

    /// How a load has ended.
    struct Outcome: Sendable {
        /// The error that the load has ended with; nil after a success.
        var cause: (any Error)?
        var metrics: URLSessionTaskMetrics
        /// The error that the task completes with. The sink returns it for `cause`.
        var error: (any Error)?
    }

    /// The number of bytes of the body that have been sent, and its expected length.
    struct SentReport: Sendable {
        var total: Int64
        var expected: Int64
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
    var protocolContext: ProtocolContext {
        state.withLock { state in
            if let protocolContext = state.protocolContext { return protocolContext }
            let newContext = ProtocolContext()
            state.protocolContext = newContext
            return newContext
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
    /// The consumer that receives the content instead of the delegate; nil for none.
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
