// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// One request of a session's, with all its attempts: what users hold in their hands.
///
/// Made by `Session` only. Any thread may call. All that happens to it happens on its session's root queue
/// (`underlyingQueue`); handlers are called on the queue that they were given with. However it ends, each handler is
/// called once. What to do next is decided by `RequestMachine`, under the lock; it is done here.
///
/// It has subclasses, so the compiler cannot see that it is `Sendable`: what changes stands in `mutableState`, and in the
/// locked states of the subclasses.
public class Request: @unchecked Sendable {
    /// Where a request stands.
    public enum State: Sendable {
        /// Nothing has begun.
        case initialized
        /// It runs, or would if it had not come to its end.
        case resumed
        /// It is held.
        case suspended
        /// It was cancelled; it stays so, although its handlers are still called.
        case cancelled
        /// The handlers have been called.
        case finished
    }

    /// What is to become of a response whose content has not come yet.
    public enum ResponseDisposition: Sendable {
        /// The content is taken.
        case allow
        /// The request is cancelled.
        case cancel
    }

    /// Hears how far a transfer is. The `Progress` is the same object each time.
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void
    /// What a validator came to.
    public typealias ValidationResult = Result<Void, any (Error & Sendable)>

    /// All that changes.
    struct MutableState {
        var machine = RequestMachine()
        var id: UUID?
        var error: AFError?
        var retryCount = 0
        var requests = Few<URLRequest>()
        var tasks = Few<URLSessionTask>()
        var metrics = Few<URLSessionTaskMetrics>()
        var chain = SerializerChain()
        var finishHandlers: [Job] = []
        var validators: [Validator] = []
        var upload = TransferProgress()
        var download = TransferProgress()
        /// Whether a handler of progress may wait to be called on the root queue.
        var hasProgressOnRoot = false
        var credential: URLCredential?
        var redirectHandler: (any RedirectHandler)?
        var cachedResponseHandler: (any CachedResponseHandler)?
        var interceptor: (any RequestInterceptor)?
        var eventMonitor: CompositeEventMonitor?
        /// What is to be told of what users did, before anything else is.
        var news: [Job] = []
        /// What is to be done to tasks, and told of them, in that order.
        var actions = OrderedActions<TaskAction>()
        var urlRequestHandler: Called<URLRequest>?
        var urlSessionTaskHandler: Called<URLSessionTask>?
        var cURLHandler: Called<String>?
    }

    /// Something to be done, once. A struct: a bare closure in a generic lock is wrapped anew at each look.
    struct Job: Sendable {
        let run: @Sendable () -> Void
    }

    /// A closure and where it is called.
    struct Called<Value: Sendable>: Sendable {
        let queue: DispatchQueue
        let closure: @Sendable (Value) -> Void

        /// Has it called with that, in its turn.
        func telling(_ value: Value) -> TaskAction {
            .tell(Job { [queue, closure] in queue.deliver { closure(value) } })
        }
    }

    let mutableState: Protected<MutableState>
    /// Whose connections the request prefers: those of the loop that the program's task runs on, if it does.
    let preference = LoopPreference()
    /// The session's root queue: everything that happens to the request happens on it.
    public let underlyingQueue: DispatchQueue
    /// Where serializers run.
    public let serializationQueue: DispatchQueue
    /// Whether the request resumes by itself when it is given its first handler; nil leaves it to the session.
    public let shouldAutomaticallyResume: Bool?
    /// The session; nil when it has gone.
    public private(set) weak var delegate: (any RequestDelegate)?

    init(
        underlyingQueue: DispatchQueue, serializationQueue: DispatchQueue,
        eventMonitor: CompositeEventMonitor?, interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?, delegate: any RequestDelegate
    ) {
        self.underlyingQueue = underlyingQueue
        self.serializationQueue = serializationQueue
        self.shouldAutomaticallyResume = shouldAutomaticallyResume
        self.delegate = delegate
        mutableState = Protected(MutableState(interceptor: interceptor, eventMonitor: eventMonitor))
    }

    /// A request that was let go before it came to an end has none: whoever waits for that hears of it now.
    deinit {
        for handler in mutableState.read({ $0.finishHandlers }) { handler.run() }
    }

    // MARK: where it stands

    /// Tells requests apart; the same over all attempts.
    public var id: UUID {
        mutableState.write { state in
            if let id = state.id { return id }
            let id = UUID()
            state.id = id
            return id
        }
    }

    /// Where the request stands.
    public var state: State { mutableState.read { $0.machine.state } }
    /// Whether nothing has begun.
    public var isInitialized: Bool { state == .initialized }
    /// Whether it runs.
    public var isResumed: Bool { state == .resumed }
    /// Whether it is held.
    public var isSuspended: Bool { state == .suspended }
    /// Whether it was cancelled.
    public var isCancelled: Bool { state == .cancelled }
    /// Whether the handlers have been called, and it was not cancelled.
    public var isFinished: Bool { state == .finished }

    /// Why the request has failed; nil as long as it has not.
    public internal(set) var error: AFError? {
        get { mutableState.read { $0.error } }
        set {
            // What stood there may hold an error of the program's: it goes away outside of the lock.
            var error = newValue
            mutableState.write { swap(&$0.error, &error) }
        }
    }

    /// The number of retries made so far.
    public var retryCount: Int { mutableState.read { $0.retryCount } }

    /// Who hears of what happens to the request.
    public var eventMonitor: (any EventMonitor)? { monitors }
    var monitors: CompositeEventMonitor? { mutableState.read { $0.eventMonitor } }
    /// Who adapts and retries the request, besides the session's.
    public var interceptor: (any RequestInterceptor)? { mutableState.read { $0.interceptor } }
    /// Whether there is one; nearly always there is none.
    var hasInterceptor: Bool { mutableState.read { $0.interceptor != nil } }
    /// Who decides about redirects; nil leaves it to the session's handler.
    public var redirectHandler: (any RedirectHandler)? { mutableState.read { $0.redirectHandler } }
    /// Who decides what is cached; nil leaves it to the session's handler.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        mutableState.read { $0.cachedResponseHandler }
    }
    /// What answers the challenges of servers and proxies.
    public var credential: URLCredential? { mutableState.read { $0.credential } }

    // MARK: what it has gathered

    /// The requests of all attempts: as converted and, where there are adapters, as adapted. No redirects.
    public var requests: [URLRequest] { mutableState.read { $0.requests.all } }
    /// The first request.
    public var firstRequest: URLRequest? { mutableState.read { $0.requests.first } }
    /// The latest request.
    public var lastRequest: URLRequest? { mutableState.read { $0.requests.last } }
    /// The latest request.
    public var request: URLRequest? { lastRequest }
    /// What each task sent last: after a redirect, the request to where it led.
    public var performedRequests: [URLRequest] { tasks.compactMap(\.currentRequest) }

    /// The response to the latest task, if it is an HTTP response.
    public var response: HTTPURLResponse? { lastTask?.response as? HTTPURLResponse }

    /// The tasks of all attempts.
    public var tasks: [URLSessionTask] { mutableState.read { $0.tasks.all } }
    /// The first task.
    public var firstTask: URLSessionTask? { mutableState.read { $0.tasks.first } }
    /// The latest task.
    public var lastTask: URLSessionTask? { mutableState.read { $0.tasks.last } }
    /// The latest task.
    public var task: URLSessionTask? { lastTask }

    /// What was measured of each task.
    public var allMetrics: [URLSessionTaskMetrics] { mutableState.read { $0.metrics.all } }
    /// What was measured of the first task.
    public var firstMetrics: URLSessionTaskMetrics? { mutableState.read { $0.metrics.first } }
    /// What was measured of the latest task.
    public var lastMetrics: URLSessionTaskMetrics? { mutableState.read { $0.metrics.last } }
    /// What was measured of the latest task.
    public var metrics: URLSessionTaskMetrics? { lastMetrics }

    // MARK: ending it

    /// Cancels the request: its handlers get `AFError.explicitlyCancelled`, unless it had failed before. Without effect once
    /// it was cancelled or has finished.
    @discardableResult
    public func cancel() -> Self {
        cancel(with: .explicitlyCancelled)
        return self
    }

    // MARK: what subclasses do their own way

    /// What an attempt begins with.
    enum Preparation {
        /// A request has to be made, and, of an upload, what is sent.
        case conversion(any URLRequestConvertible, upload: UploadRequest?)
        /// A download goes on from there.
        case resumption(DownloadRequest, Data)
    }

    /// What each attempt begins with.
    var preparation: Preparation {
        preconditionFailure("a session performs requests of its own kinds: \(type(of: self))")
    }

    /// The task of an attempt.
    func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        preconditionFailure("Request has no task of its own: its subclasses do")
    }

    /// Whether nobody of the request's has a say in what is stored of its answers, as a handler has, or whoever may refuse a response.
    var storesUnasked: Bool { false }

    /// Somebody has a say from here on.
    func asksWhatIsStored() { for task in tasks { task.storesUnasked = false } }

    /// Forgets what an attempt has gathered, before the next one begins.
    func reset() {
        let (changes, _, _) = mutableState.write { state in
            ([state.upload.reset(), state.download.reset()], state.error.take(), state.chain.restart())
        }
        for change in changes { change?.show() }
    }

    /// The request comes to its end: no content comes any more. On the root queue, before anybody is told.
    func contentEnds() {}

    /// Lets go of everything when the handlers have been called. On the root queue.
    func cleanup() {
        // Handlers of progress often hold the request, to cancel it, and have heard everything. They go outside of the lock.
        let (handlers, progress) = mutableState.write { state in
            defer { (state.finishHandlers, state.upload.handler, state.download.handler) = ([], nil, nil) }
            return (state.finishHandlers, [state.upload.handler, state.download.handler])
        }
        withExtendedLifetime(progress) {}
        for handler in handlers { handler.run() }
        delegate?.cleanup(after: self)
    }
}

/// Requests are told apart by their `id`, hence as objects.
extension Request: Hashable {
    public static func == (left: Request, right: Request) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Request: CustomStringConvertible {
    /// Method, address without name and password and, once there is one, the status of what was performed last.
    public var description: String {
        guard let request = performedRequests.last ?? lastRequest, let url = request.url,
            let method = request.httpMethod
        else { return "No request created yet." }
        let text = "\(method) \(url.withoutUserInfo.absoluteString)"
        return response.map { "\(text) (\($0.statusCode))" } ?? text
    }
}
