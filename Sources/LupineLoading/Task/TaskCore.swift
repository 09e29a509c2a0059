// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The state of a task, behind its open class, with the calls that wait for the delegate queue.
///
/// One lock guards all of it; nothing is called under the lock. The core retains its task object and its session from `begin`
/// to the last call of the task, and the load from `resume` to its end: an unfinished task stays alive even if nothing else
/// holds it.
final class TaskCore: Sendable {
    /// Byte counts as the program sees them.
    struct Counts: Sendable {
        var received: Int64 = 0
        var sent: Int64 = 0
        var expectedToReceive: Int64 = NSURLSessionTransferSizeUnknown
        var expectedToSend: Int64 = 0
    }

    /// Values that the program may set on a task, without effect here.
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
        var publicTask: URLSessionTask?
        /// The task object, if its session has not admitted the task.
        weak var orphan: URLSessionTask?
        var session: URLSession?
        /// Whether the task was created in a session that was invalid already (U-4.4).
        var isOrphan = false
        var sink: any TaskSink
        /// Makes the load; nil once it is made or the task has finished. It holds the session's context, which must not live as
        /// long as the program keeps the task.
        var making: Making?
        var load: (any TaskLoad)?
        var currentRequest: URLRequest?
        /// The value of `Authorization` that was sent with it as the answer to a challenge.
        var sentAuthorization: String?
        var response: URLResponse?
        var error: (any Error)?
        var own: DelegateSet?
        /// Whether the delegate only collects the content.
        var isCollected = false
        /// The credential that the task was given to answer challenges with.
        var credential: URLCredential?
        /// The objects that decide about servers if the task loads on behalf of another one.
        var deputisedJudges: [ObjectToken]?
        /// The Swift tasks in which a delegate answers the open question.
        var forms: [Task<Void, Never>] = []
        /// Whether a redirect has led to another origin than that of the original request.
        var hasLeftOrigin = false
        /// Whether the session was made with a delegate, which it keeps as long as it has tasks.
        var sessionHasDelegate = false
        /// Whether the response is stored as it came, without asking the session's delegate.
        var storesUnasked = false
        var priority = URLSessionTask.defaultPriority
        /// The loop whose connections are preferred, if it is not the loop whose job first resumes the task.
        var preference: LoopPreference?
        var counts = Counts()
        var hints = Hints()
        var progress: Progress?
        /// How the load ended; nil before.
        var outcome: Outcome?
        /// The time limit for the delegate's answer after the load has ended, when nothing else enforces it.
        var alarm: SessionClock.Cancel?
        /// The progress of sending that the delegate has not been told of.
        var untoldSent: SentReport?
        /// How many bytes of this transmission the delegate has been told of.
        var toldSent: Int64 = 0
        /// Created when a program's `URLProtocol` is called for the task.
        var protocols: ProtocolContext?

        /// The participants of a callback, if the task has been converted since `context` or `context` is nil; nil also without a
        /// task object.
        func participants(besides context: CallbackContext?) -> CallbackContext.Participants? {
            guard let publicTask, let session, publicTask !== context?.task else { return nil }
            return CallbackContext.Participants(session: session, task: publicTask, sink: sink, own: own)
        }
    }

    /// How the load is made.
    enum Making: Sendable {
        /// By the session's own load maker.
        case order(TaskOrder, SessionContext, maker: LoadMaker)
        case other(@Sendable (TaskCore) -> any TaskLoad)

        func load(for task: TaskCore) -> any TaskLoad {
            switch self {
            case .order(let order, let context, let maker): maker(order, context, task)
            case .other(let make): make(task)
            }
        }
    }

    /// How a load ended, and the error that its sink makes of that.
    struct Outcome: Sendable {
        var cause: (any Error)?
        var metrics: URLSessionTaskMetrics
        var error: (any Error)?
    }

    /// How much of the body has been sent, and how long it is.
    struct SentReport: Sendable {
        var total: Int64
        var expected: Int64
    }

    let identifier: Int
    let originalRequest: URLRequest?
    let created: Date
    let queue: DelegateQueue?
    let state: Lock<State>

    init(
        _ identifier: Int, originalRequest: URLRequest?, queue: DelegateQueue?, sink: any TaskSink,
        bodyLength: Int64 = 0, created: Date = Date(),
        making: Making
    ) {
        self.identifier = identifier
        self.originalRequest = originalRequest
        self.queue = queue
        self.created = created
        state = Lock(
            State(
                sink: sink, making: making, currentRequest: originalRequest,
                counts: Counts(expectedToSend: bodyLength)))
    }

    /// The core of a task that was not made by a session.
    static func ofNoSession() -> TaskCore {
        TaskCore(
            0, originalRequest: nil, queue: nil, sink: DelegateSink.shared,
            making: .other { task in
                FailedLoad(URLError(.unsupportedURL), created: task.created, client: task)
            })
    }

    /// Makes the task known to the session and its delegate.
    func begin<PublicTask: URLSessionTask>(
        as publicTask: PublicTask, in session: URLSession, delegate: DelegateSet? = nil
    )
        -> PublicTask
    {
        state.withLock { state in
            state.publicTask = publicTask
            state.session = session
            state.own = delegate
            state.sessionHasDelegate = session.core.hadDelegate
        }
        if session.core.admit(self) {
            if delegate != nil || session.core.needsDidCreateTask {
                call { $0.delegates.task?.urlSession($0.session, didCreateTask: $0.task) }
            }
        } else {
            // The session does not retain the task, and it may never be resumed: only its creator retains it.
            state.withLock { state in
                state.isOrphan = true
                state.orphan = publicTask
                state.publicTask = nil
            }
        }
        return publicTask
    }

    /// The context in which the program's `URLProtocol`s are called for this task.
    var protocols: ProtocolContext {
        state.withLock { state in
            if let protocols = state.protocols { return protocols }
            let made = ProtocolContext()
            state.protocols = made
            return made
        }
    }

    // MARK: what the program asks

    var isOrphan: Bool { state.withLock { $0.isOrphan } }
    var publicTask: URLSessionTask? { state.withLock { $0.publicTask } }
    var session: URLSession? { state.withLock { $0.session } }
    var taskState: URLSessionTask.State { state.withLock { $0.machine.shown } }
    var currentRequest: URLRequest? { state.withLock { $0.currentRequest } }
    var response: URLResponse? { state.withLock { $0.response } }
    var error: (any Error)? { state.withLock { $0.error } }
    var counts: Counts { state.withLock { $0.counts } }
    var ownDelegates: DelegateSet? { state.withLock { $0.own } }
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

    var storesUnasked: Bool {
        get { state.withLock { $0.storesUnasked } }
        set { state.withLock { $0.storesUnasked = newValue } }
    }

    var taskDescription: String? {
        get { hints.description }
        set { state.withLock { $0.hints.description = newValue } }
    }

    var delegate: (any URLSessionTaskDelegate)? {
        get { ownDelegates?.task }
        set {
            let new = newValue.map { DelegateSet($0) }
            let old = state.withLock { state -> DelegateSet? in
                guard state.machine.state == .fresh else { return new }
                defer { state.own = new }
                return state.own
            }
            _ = old
        }
    }
}
