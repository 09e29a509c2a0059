// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A task, behind its open class: where it stands, what it knows, and the calls that wait for the delegate queue.
///
/// One lock guards all of it; nothing is called under that. The core keeps its face and its session from `begin` to the
/// last call of the task, and the load from `resume` to its end: an unfinished task lives even if nobody else holds it.
final class TaskCore: Sendable {
    /// Byte counts as the program sees them.
    struct Counts: Sendable {
        var received: Int64 = 0
        var sent: Int64 = 0
        var expectedToReceive: Int64 = NSURLSessionTransferSizeUnknown
        var expectedToSend: Int64 = 0
    }

    /// What the program may note on a task, without effect here.
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
        var face: URLSessionTask?
        /// The face of a task that its session has not taken in.
        weak var orphan: URLSessionTask?
        var session: URLSession?
        /// Made in a session that was invalid already (U-4.4).
        var isOrphan = false
        var sink: any TaskSink
        /// What the load is made with: until it is made, or the task has finished. It holds what the session loads with, which
        /// is not to live as long as somebody keeps the task.
        var making: Making?
        var load: (any TaskLoad)?
        var currentRequest: URLRequest?
        /// What went out with it in `Authorization` as the answer to a challenge.
        var sentAuthorization: String?
        var response: URLResponse?
        var error: (any Error)?
        var own: DelegateSet?
        /// Whether the delegate only collects the content.
        var isCollected = false
        /// What the task was handed to answer challenges with.
        var credential: URLCredential?
        /// Who judges servers where the task loads for another.
        var deputisedJudges: [ObjectToken]?
        /// In which Swift tasks a delegate answers the question that is open.
        var forms: [Task<Void, Never>] = []
        /// Whether a redirect has led to another origin than the program named.
        var hasLeftOrigin = false
        /// It keeps its delegate as long as it has tasks.
        var sessionHasDelegate = false
        /// Whether the answer is stored as it came, without a word of the session's delegate.
        var storesUnasked = false
        var priority = URLSessionTask.defaultPriority
        /// Whose connections it prefers, where that is not the loop whose job resumes it first.
        var preference: LoopPreference?
        var counts = Counts()
        var hints = Hints()
        var progress: Progress?
        /// How the load ended, until the task has finished.
        var outcome: Outcome?
        /// Set when the load has ended and the delegate is being asked: nobody else counts then.
        var alarm: SessionClock.Cancel?
        /// What the delegate has not been told yet of what was sent.
        var untoldSent: SentReport?
        /// How much of this transmission the delegate knows of.
        var toldSent: Int64 = 0
        /// Made when a protocol of the program's is called for the task.
        var protocols: ProtocolContext?

        /// Who takes part in a call back, if that is not who is on that stage; nil also when the task has no face.
        func cast(besides stage: TaskStage?) -> TaskStage.Cast? {
            guard let face, let session, face !== stage?.task else { return nil }
            return TaskStage.Cast(session: session, task: face, sink: sink, own: own)
        }
    }

    /// What makes the load.
    enum Making: Sendable {
        /// What the session makes loads with, of its own kind.
        case order(TaskOrder, SessionContext, maker: LoadMaker)
        case other(@Sendable (TaskCore) -> any TaskLoad)

        func load(for task: TaskCore) -> any TaskLoad {
            switch self {
            case .order(let order, let context, let maker): maker(order, context, task)
            case .other(let make): make(task)
            }
        }
    }

    /// How a load ended, and what its sink makes of that.
    struct Outcome: Sendable {
        var cause: (any Error)?
        var metrics: URLSessionTaskMetrics
        var error: (any Error)?
    }

    /// How much of the body has been sent, of how much.
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

    /// The core of a task that no session made.
    static func ofNoSession() -> TaskCore {
        TaskCore(
            0, originalRequest: nil, queue: nil, sink: DelegateSink.shared,
            making: .other { task in
                FailedLoad(URLError(.unsupportedURL), created: task.created, client: task)
            })
    }

    /// The task begins to exist for the session and its delegate.
    func begin<Face: URLSessionTask>(as face: Face, in session: URLSession, delegate: DelegateSet? = nil)
        -> Face
    {
        state.withLock { state in
            state.face = face
            state.session = session
            state.own = delegate
            state.sessionHasDelegate = session.core.hadDelegate
        }
        if session.core.admit(self) {
            if delegate != nil || session.core.tellsOfNewTasks {
                call { $0.delegates.task?.urlSession($0.session, didCreateTask: $0.task) }
            }
        } else {
            // The session does not hold it, and it may never be resumed: it is kept by who has made it alone.
            state.withLock { state in
                state.isOrphan = true
                state.orphan = face
                state.face = nil
            }
        }
        return face
    }

    /// Where protocols of the program's are called for this task.
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
    var face: URLSessionTask? { state.withLock { $0.face } }
    var session: URLSession? { state.withLock { $0.session } }
    var taskState: URLSessionTask.State { state.withLock { $0.machine.shown } }
    var currentRequest: URLRequest? { state.withLock { $0.currentRequest } }
    var response: URLResponse? { state.withLock { $0.response } }
    var error: (any Error)? { state.withLock { $0.error } }
    var counts: Counts { state.withLock { $0.counts } }
    var ownDelegates: DelegateSet? { state.withLock { $0.own } }

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
