// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request of a session, with all its attempts.
///
/// Created by `Session` only. May be used from any thread. The work for a request is done in steps that never overlap (`Lane`).
/// In this module, "the program" is the one that uses the library. The request calls the program's code on the session's root
/// queue (`underlyingQueue`), and each handler on the queue that the program has chosen for it. However the request ends, it
/// calls each handler once.
///
/// `RequestMachine` decides under the lock what to do next, and this class performs the machine's actions. The end of a request
/// is a *pass*: all serializers run, then all handlers are called.
///
/// `@unchecked Sendable`, because the compiler cannot check a class with subclasses. All mutable state is in `mutableState` and
/// in the locked states of the subclasses.
public class Request: @unchecked Sendable {
    /// The state of a request.
    public enum State: Sendable {
        /// The request has not been resumed yet.
        case initialized
        /// The request was resumed and has not finished.
        case resumed
        /// The request is suspended.
        case suspended
        /// The request was cancelled. This state is final, although the handlers are still called.
        case cancelled
        /// The handlers have been called.
        case finished
    }

    /// A handler's decision about a response whose content has not been received yet.
    public enum ResponseDisposition: Sendable {
        /// Receive the content.
        case allow
        /// Cancel the request.
        case cancel
    }

    /// Receives the progress of a transfer. The `Progress` is the same object each time.
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void
    /// The result of a validator.
    public typealias ValidationResult = Result<Void, any (Error & Sendable)>

    /// The state that `mutableState` guards with its lock.
    struct MutableState {
        /// Decides what the request does next.
        var machine = RequestMachine()
        /// The queue of the request's steps.
        var lane = Lane()
        /// Whether neither the session nor the request as it was created contains code of the program: see
        /// `mayReceiveOnAnyThread`. Set when an attempt begins.
        var mayAvoidProgramCode = false
        /// Whether an `HTTPResponseHandler` decides about the content of responses.
        var hasHTTPResponseHandler = false
        /// Whether the request has monitors besides those of its session.
        var hasMonitors = false
        /// The notifications of the present step that have not been passed to the monitors yet: see `report`.
        var deferredNotifications: RequestNotifications = []
        /// Nil until the program reads `id`.
        var id: UUID?
        var error: AFError?
        var retryCount = 0
        /// The `URLRequest`s of all attempts, in order.
        var requests = SmallArray<URLRequest>()
        /// The tasks of all attempts, in order.
        var tasks = SmallArray<URLSessionTask>()
        /// The metrics of the tasks, in the same order.
        var metrics = SmallArray<URLSessionTaskMetrics>()
        /// The serializers of the response, and the calls of the response handlers.
        var serializerChain = SerializerChain()
        /// Called once, when the request has called its response handlers: see `onFinish`.
        var finishHandlers: [Job] = []
        var validators: [Validator] = []
        var uploadProgress = TransferProgress()
        var downloadProgress = TransferProgress()
        /// Whether a call of a progress handler may be waiting on the root queue. Response handlers are called after it.
        var mayHaveProgressCallOnRoot = false
        var credential: URLCredential?
        var redirectHandler: (any RedirectHandler)? { didSet { hasInterceptorOrHandler = true } }
        var cachedResponseHandler: (any CachedResponseHandler)? { didSet { hasInterceptorOrHandler = true } }
        var interceptor: (any RequestInterceptor)? { didSet { hasInterceptorOrHandler = true } }
        var eventMonitor: CompositeEventMonitor?
        /// Reports to the monitors of `resume`, `suspend` and `cancel` calls. They are delivered before any other event is
        /// reported.
        var pendingReports: [Job] = []
        /// Actions on tasks, and calls of the handlers that receive requests and tasks, in the order in which they were decided.
        var taskActions = OrderedActions<TaskAction>()
        /// The handlers of `onURLRequestCreation`, `onURLSessionTaskCreation` and `cURLDescription(on:calling:)`.
        var urlRequestHandler: QueuedHandler<URLRequest>? { didSet { hasInterceptorOrHandler = true } }
        var urlSessionTaskHandler: QueuedHandler<URLSessionTask>? {
            didSet { hasInterceptorOrHandler = true }
        }
        var cURLHandler: QueuedHandler<String>? { didSet { hasInterceptorOrHandler = true } }
        /// Whether the request has, or has had, an interceptor or one of the handlers whose `didSet` sets this flag. A stored
        /// flag, because each step reads it, and comparing the handlers with nil would copy them.
        private(set) var hasInterceptorOrHandler: Bool

        init(interceptor: (any RequestInterceptor)?, eventMonitor: CompositeEventMonitor?) {
            self.interceptor = interceptor
            self.eventMonitor = eventMonitor
            hasInterceptorOrHandler = interceptor != nil
        }

        /// The monitors, or nil if all of them ignore events without a notification, as in most sessions.
        var monitorsOfAllEvents: CompositeEventMonitor? {
            guard let eventMonitor, !eventMonitor.onlyPostsNotifications else { return nil }
            return eventMonitor
        }

        /// Stores a report of a call of `resume`, `suspend` or `cancel`. The caller then calls `deliverPendingReportsOnRoot`,
        /// outside of the lock.
        mutating func addReport(_ report: @escaping @Sendable () -> Void) {
            pendingReports.append(Job(run: report))
        }

        /// Removes and returns the pending reports.
        mutating func takePendingReports() -> [Job] {
            if pendingReports.isEmpty { return [] }
            defer { pendingReports = [] }
            return pendingReports
        }

        /// Whether the present attempt calls none of the program's code, and the request holds no objects of the program. If so,
        /// its steps may run on any thread. Response handlers do not count: `RequestPass` checks for them before it calls them.
        var callsNoProgramCode: Bool { mayAvoidProgramCode && !hasProgramCode }

        /// Whether the program has added code other than response handlers to the request.
        var hasProgramCode: Bool {
            // The program may observe a `Progress` object.
            let hasProgressObject = uploadProgress.object != nil || downloadProgress.object != nil
            return hasInterceptorOrHandler || hasHTTPResponseHandler || hasMonitors || hasProgressObject
                || !validators.isEmpty
        }
    }

    /// A closure that runs once. The struct avoids a cost: if a generic lock stored the bare closure, each access would wrap it
    /// in another thunk.
    struct Job: Sendable {
        let run: @Sendable () -> Void
    }

    /// A handler of the program, and the queue on which it is called.
    struct QueuedHandler<Value: Sendable>: Sendable {
        let queue: DispatchQueue
        let closure: @Sendable (Value) -> Void

        /// Returns an action that enqueues a call of the handler with `value` on its queue.
        func makeCall(with value: Value) -> TaskAction {
            .callHandler(Job { [queue, closure] in queue.async { closure(value) } })
        }
    }

    let mutableState: Protected<MutableState>
    /// The event loop whose connections the request prefers: the loop that runs the Swift task that created the request, if any.
    let loopPreference = LoopPreference()
    /// The session's root queue. The request calls the program's code there, unless the program has chosen another queue.
    public let underlyingQueue: DispatchQueue
    /// The queue on which serializers run.
    public let serializationQueue: DispatchQueue
    /// Whether the request resumes automatically when its first handler is added; nil uses the session's setting.
    public let shouldAutomaticallyResume: Bool?
    /// The session; nil once it has been deallocated.
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

    /// Calls the finish handlers that are left: if the request has not finished yet, nothing else can call them.
    deinit {
        for handler in mutableState.read({ $0.finishHandlers }) { handler.run() }
    }

    // MARK: state

    /// The identifier of the request, the same over all attempts.
    public var id: UUID {
        mutableState.write { state in
            if let id = state.id { return id }
            let id = UUID()
            state.id = id
            return id
        }
    }

    /// The state of the request.
    public var state: State { mutableState.read { $0.machine.state } }
    /// Whether the request has not been resumed yet.
    public var isInitialized: Bool { state == .initialized }
    /// Whether the request was resumed and has not finished.
    public var isResumed: Bool { state == .resumed }
    /// Whether the request is suspended.
    public var isSuspended: Bool { state == .suspended }
    /// Whether the request was cancelled.
    public var isCancelled: Bool { state == .cancelled }
    /// Whether the handlers have been called and the request was not cancelled.
    public var isFinished: Bool { state == .finished }

    /// The error of the request; nil if it has not failed.
    public internal(set) var error: AFError? {
        get { mutableState.read { $0.error } }
        set {
            // `swap` moves the old error out of the lock, where it is released: it may hold objects of the program.
            var error = newValue
            mutableState.write { swap(&$0.error, &error) }
        }
    }

    /// The number of retries made so far.
    public var retryCount: Int { mutableState.read { $0.retryCount } }

    /// The monitor that receives the request's events.
    public var eventMonitor: (any EventMonitor)? { monitors }
    /// The same monitor as `eventMonitor`, with its type. It forwards events to the monitors of the session and of the request.
    var monitors: CompositeEventMonitor? { mutableState.read { $0.eventMonitor } }
    /// The same monitor, or nil if an event without a notification would reach none of its monitors.
    var monitorsOfAllEvents: CompositeEventMonitor? { mutableState.read { $0.monitorsOfAllEvents } }
    /// The interceptor of the request, in addition to the session's.
    public var interceptor: (any RequestInterceptor)? { mutableState.read { $0.interceptor } }
    /// Whether the request has an interceptor. Does not copy the interceptor, unlike a comparison of `interceptor` with nil.
    var hasInterceptor: Bool { mutableState.read { $0.interceptor != nil } }
    /// The redirect handler; nil uses the session's.
    public var redirectHandler: (any RedirectHandler)? { mutableState.read { $0.redirectHandler } }
    /// The handler that decides what is cached; nil uses the session's.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        mutableState.read { $0.cachedResponseHandler }
    }
    /// The credential that answers challenges of servers and proxies.
    public var credential: URLCredential? { mutableState.read { $0.credential } }

    // MARK: requests, tasks and metrics

    /// The requests of all attempts, without redirects. Each attempt adds the request made from the `URLRequestConvertible`. If
    /// it has an adapter, it then adds the adapted request.
    public var requests: [URLRequest] { mutableState.read { $0.requests.all } }
    /// The first request.
    public var firstRequest: URLRequest? { mutableState.read { $0.requests.first } }
    /// The latest request.
    public var lastRequest: URLRequest? { mutableState.read { $0.requests.last } }
    /// The latest request.
    public var request: URLRequest? { lastRequest }
    /// The current request of each task: after a redirect, the redirected one.
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

    /// The metrics of all tasks.
    public var allMetrics: [URLSessionTaskMetrics] { mutableState.read { $0.metrics.all } }
    /// The metrics of the first task.
    public var firstMetrics: URLSessionTaskMetrics? { mutableState.read { $0.metrics.first } }
    /// The metrics of the latest task.
    public var lastMetrics: URLSessionTaskMetrics? { mutableState.read { $0.metrics.last } }
    /// The metrics of the latest task.
    public var metrics: URLSessionTaskMetrics? { lastMetrics }

    // MARK: cancelling

    /// Cancels the request: its handlers receive `AFError.explicitlyCancelled`, unless the request has failed before. Has no
    /// effect once the request was cancelled or has finished.
    @discardableResult
    public func cancel() -> Self {
        control.cancel(with: .explicitlyCancelled)
        return self
    }

    // MARK: overridden by subclasses

    /// How an attempt begins.
    enum Preparation {
        /// Converts the request and, for an upload, creates its body.
        case conversion(any URLRequestConvertible, upload: UploadRequest?)
        /// Creates a task that resumes an earlier download from its resume data.
        case resumption(DownloadRequest, resumeData: Data)
    }

    /// How each attempt begins. Overridden by each subclass.
    var preparation: Preparation {
        preconditionFailure("a session performs requests of its own kinds: \(type(of: self))")
    }

    /// Returns a new task for an attempt. Overridden by each subclass.
    func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        preconditionFailure("Request has no task of its own: its subclasses do")
    }

    /// Whether tasks may store a response in the cache without asking the request. This requires that the request has no cache
    /// handler, and no `onHTTPResponse` handler that could refuse the response.
    var storesWithoutAsking: Bool { false }

    /// Whether any thread may process the content and the end of the task, as long as the program adds no code to the request.
    /// True for a `DataRequest` that is no upload and whose convertible contains no code or object of the program.
    var mayReceiveOnAnyThread: Bool { false }

    /// Whether the thread that adds the first handler may start the request, because the first attempt calls none of the
    /// program's code.
    func mayStartOnAnyThread(in session: Session) -> Bool { false }

    /// Makes the tasks ask the request before they store a response in the cache. Called when a handler is added that decides
    /// whether to store a response.
    func askBeforeStoring() { for task in tasks { task.storesWithoutAsking = false } }

    /// Discards the results of an attempt before the next one begins.
    func reset() {
        // The error and the discarded calls are returned so that they are released outside of the lock.
        let (progressChanges, _, _) = mutableState.write { state in
            let progressChanges = [state.uploadProgress.reset(), state.downloadProgress.reset()]
            return (progressChanges, state.error.take(), state.serializerChain.restart())
        }
        for change in progressChanges { change?.publish() }
    }

    /// Called in a step when the request finishes, before monitors and handlers are called. No more content arrives.
    func contentDidEnd() {}

    /// Releases resources after the handlers have been called. Called in a step.
    func cleanup() {
        // The progress handlers are not called again. They are removed, because they often retain the request in order to cancel
        // it.
        let (finishHandlers, progressHandlers) = mutableState.write { state in
            let progressHandlers = [state.uploadProgress.handler, state.downloadProgress.handler]
            state.uploadProgress.handler = nil
            state.downloadProgress.handler = nil
            defer { state.finishHandlers = [] }
            return (state.finishHandlers, progressHandlers)
        }
        // Releases the progress handlers here, outside of the lock.
        withExtendedLifetime(progressHandlers) {}
        for handler in finishHandlers { handler.run() }
        delegate?.cleanup(after: self)
    }
}

/// Requests are compared as objects, which is equivalent to comparing their `id`.
extension Request: Hashable {
    public static func == (left: Request, right: Request) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Request: CustomStringConvertible {
    /// The method, the URL without user name and password and, once there is a response, its status code.
    public var description: String {
        guard let request = performedRequests.last ?? lastRequest, let url = request.url,
            let method = request.httpMethod
        else { return "No request created yet." }
        let text = "\(method) \(url.withoutUserInfo.absoluteString)"
        guard let response else { return text }
        return "\(text) (\(response.statusCode))"
    }
}
