// SPDX-License-Identifier: MIT

public import Foundation

/// Creates tasks and holds what they share: configuration, connections, credentials, delegate.
///
/// May be used on any thread. The session calls its delegate and completion handlers on the delegate queue. It retains the
/// delegate until `urlSession(_:didBecomeInvalidWithError:)` has returned. A session that the program releases without
/// invalidating it stays alive while one of its tasks is unfinished; then it is deallocated. The class is open, so the compiler
/// cannot verify that it is `Sendable`: its only stored property is a constant, the core.
open class URLSession: NSObject, @unchecked Sendable {
    /// How a challenge is handled.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// The given credential is used; if there is none, the load continues without a credential.
        case useCredential = 0
        /// The challenge is handled as without a delegate.
        case performDefaultHandling = 1
        /// The task ends as cancelled.
        case cancelAuthenticationChallenge = 2
        /// This authentication method is rejected; the delegate is asked about the next method that the server offers.
        case rejectProtectionSpace = 3
    }

    /// How a response's content is handled.
    public enum ResponseDisposition: Int, Sendable {
        /// The task ends as cancelled.
        case cancel = 0
        /// The content is delivered.
        case allow = 1
        /// The task continues as a download task.
        case becomeDownload = 2
        /// The task continues as a stream task.
        case becomeStream = 3
    }

    /// How a delayed task is started.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// It begins with its original request.
        case continueLoading = 0
        /// It begins with another request.
        case useNewRequest = 1
        /// It is cancelled.
        case cancel = 2
    }

    let core: SessionCore

    /// The shared session of the process, with the default configuration and no delegate. It cannot be invalidated.
    public static let shared = URLSession(SessionCore(.default, delegate: nil, queue: nil, isShared: true))

    /// Creates a session without a delegate.
    public init(configuration: URLSessionConfiguration) {
        core = SessionCore(configuration, delegate: nil, queue: nil, isShared: false)
        super.init()
    }

    /// Creates a session with the default configuration, for subclasses that load by themselves.
    public override init() {
        core = SessionCore(.default, delegate: nil, queue: nil, isShared: false)
        super.init()
    }

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - configuration: Copied; later changes have no effect.
    ///   - delegate: Retained until the session has called `urlSession(_:didBecomeInvalidWithError:)`.
    ///   - queue: The queue for calls of the delegate and of completion handlers: they run on its underlying dispatch queue if
    ///     it has one, otherwise as operations. Nil creates a serial queue.
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        core = SessionCore(configuration, delegate: delegate, queue: queue, isShared: false)
        super.init()
    }

    init(_ core: SessionCore) {
        self.core = core
        super.init()
    }

    /// A copy of the session's configuration.
    open var configuration: URLSessionConfiguration { core.copyOfConfiguration() }

    /// The delegate; nil after the session has become invalid.
    open var delegate: (any URLSessionDelegate)? { core.delegates?.session }

    /// The queue on which the delegate and completion handlers are called.
    open var delegateQueue: OperationQueue { core.queue.operationQueue }

    /// A description for the program's use.
    open var sessionDescription: String? {
        get { core.sessionDescription }
        set { core.sessionDescription = newValue }
    }

    /// Lets the tasks finish, then tells the delegate that the session is invalid and releases it. Has no effect on `shared`.
    open func finishTasksAndInvalidate() { core.invalidate(self, cancelling: false) }

    /// Cancels all tasks, then tells the delegate that the session is invalid and releases it. Has no effect on `shared`.
    open func invalidateAndCancel() { core.invalidate(self, cancelling: true) }

    /// Empties the stores of cookies, responses and credentials and closes idle connections. The handler is called on the
    /// delegate queue.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        core.reset(self, completionHandler)
    }

    /// Has the stores write to disk and closes idle connections. The handler is called on the delegate queue.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        core.flush(self, completionHandler)
    }

    /// Passes all unfinished tasks, also those never resumed, to the handler, which is called on the delegate queue.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        core.queue.add { [self] in completionHandler(core.unfinishedTasks()) }
    }

    /// Passes the unfinished data, upload and download tasks to the handler, which is called on the delegate queue.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
            ) -> Void
    ) {
        core.queue.add { [self] in
            let tasks = core.unfinishedTasks()
            let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
            let data = tasks.compactMap { $0 as? URLSessionDataTask }.filter { !($0 is URLSessionUploadTask) }
            completionHandler(data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
        }
    }

    /// The unfinished data, upload and download tasks.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async {
            await withCheckedContinuation { continuation in
                getTasksWithCompletionHandler { continuation.resume(returning: ($0, $1, $2)) }
            }
        }
    }

    /// All unfinished tasks, also those never resumed.
    public var allTasks: [URLSessionTask] {
        get async {
            await withCheckedContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }

    // MARK: tasks

    // Tasks are created suspended. Creating a task never fails: a task whose request cannot be loaded fails when it is resumed
    // (U-16.3), and a task of an invalid session completes as cancelled (U-4.4).

    /// Creates a data task whose content goes to the delegate.
    open func dataTask(with request: URLRequest) -> URLSessionDataTask {
        makeDataTask(TaskDefinition(kind: .data, request: request, body: .request), DelegateSink.shared)
    }

    /// Creates a data task whose content goes to the delegate.
    open func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

    /// Creates a data task that calls the handler on the delegate queue when it ends: with content and response, or with the
    /// error and without content.
    open func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(
            TaskDefinition(kind: .data, request: request, body: .request), collecting(completionHandler))
    }

    /// Creates a data task that calls the handler on the delegate queue when it ends: with content and response, or with the
    /// error and without content.
    open func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Creates an upload task for data whose response goes to the delegate.
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .data(bodyData)), DelegateSink.shared)
    }

    /// Creates an upload task for a file whose response goes to the delegate. The task fails if the file cannot be read.
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .file(fileURL)), DelegateSink.shared)
    }

    /// Creates an upload task for a body stream that the delegate supplies. The task fails if the delegate supplies none.
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        makeUploadTask(TaskDefinition(kind: .upload, request: request, body: .streamed), DelegateSink.shared)
    }

    /// Creates an upload task for data that calls the handler on the delegate queue when it ends: with content and response, or
    /// with the error and without content. Nil sends an empty body.
    open func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .data(bodyData ?? Data())),
            collecting(completionHandler))
    }

    /// Creates an upload task for a file that calls the handler on the delegate queue when it ends: with content and response, or
    /// with the error and without content.
    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .file(fileURL)),
            collecting(completionHandler))
    }

    /// Creates an upload task that always completes with `unsupportedURL`: uploads cannot be resumed
    /// (`URLSessionUploadTask.cancel(byProducingResumeData:)` passes nil), and the program has to upload from the start.
    open func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        makeFailingUploadTask(DelegateSink.shared)
    }

    /// Creates an upload task that always completes with `unsupportedURL`, and calls the handler on the delegate queue.
    open func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeFailingUploadTask(collecting(completionHandler))
    }

    /// Creates a download task whose file goes to the delegate.
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        makeDownloadTask(request, handler: nil)
    }

    /// Creates a download task whose file goes to the delegate.
    open func downloadTask(with url: URL) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// Creates a download task that calls the handler on the delegate queue when it ends: with file and response, or with the
    /// error and without a file. The file is removed when the handler returns.
    open func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(request, handler: completionHandler)
    }

    /// Creates a download task that calls the handler on the delegate queue when it ends: with file and response, or with the
    /// error and without a file. The file is removed when the handler returns.
    open func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Creates a download task that resumes where another one ended. The task fails with `unsupportedURL` if the data is not
    /// resume data; it downloads the whole resource if the partial file no longer exists or the server has another version.
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, handler: nil)
    }

    /// Creates a download task that resumes where another one ended, and calls the handler on the delegate queue when it ends.
    open func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, handler: completionHandler)
    }

    /// Creates a WebSocket task.
    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask {
        webSocketTask(with: URLRequest(url: url))
    }

    /// Creates a WebSocket task that offers these subprotocols; none if the array is empty.
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        var request = URLRequest(url: url)
        if !protocols.isEmpty {
            request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
        return webSocketTask(with: request)
    }

    /// Creates a WebSocket task; subprotocols to offer are in the request's header fields.
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        makeWebSocketTask(request)
    }

    /// Creates a stream task: a connection to that host and port.
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        makeStreamTask(host: hostname, port: port)
    }

    // MARK: used within the module

    /// Returns a sink that collects the content and passes it to the handler.
    private func collecting(
        _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> any TaskSink {
        CollectingSink(limit: collectedBodyLimit, handler)
    }

    /// Creates a data task with this sink.
    func makeDataTask(
        _ definition: TaskDefinition, _ sink: any TaskSink, delegate: DelegateSet? = nil
    ) -> URLSessionDataTask {
        let task = core.makeTask(definition, sink: sink)
        return task.begin(as: URLSessionDataTask(task), in: self, delegate: delegate)
    }

    /// Creates an upload task with this sink.
    func makeUploadTask(
        _ definition: TaskDefinition, _ sink: any TaskSink, delegate: DelegateSet? = nil
    ) -> URLSessionUploadTask {
        let task = core.makeTask(definition, sink: sink)
        return task.begin(as: URLSessionUploadTask(task), in: self, delegate: delegate)
    }

    /// Creates an upload task that fails when it is resumed, because uploads cannot be resumed (U-7.14).
    private func makeFailingUploadTask(_ sink: any TaskSink) -> URLSessionUploadTask {
        let task = core.makeTask(originalRequest: nil, sink: sink) { task in
            FailedLoad(
                .loading(.unsupportedURL, url: nil, reason: "uploads leave no resume data"),
                created: task.created, client: task)
        }
        return task.begin(as: URLSessionUploadTask(task), in: self, delegate: nil)
    }

    /// Returns the delegate to which a default implementation of `delegate` forwards a call: the session's, if `delegate` is the
    /// task's own delegate and another object than the session's; otherwise nil.
    func successor(of delegate: any URLSessionDelegate, for task: URLSessionTask) -> DelegateSet? {
        guard task.core.ownDelegates?.session === delegate else { return nil }
        guard let next = core.delegates, next.session !== delegate else { return nil }
        return next
    }
}
