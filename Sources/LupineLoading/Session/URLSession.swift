// SPDX-License-Identifier: MIT

public import Foundation

/// Creates tasks and contains what they share: configuration, connections, credentials, delegate.
///
/// May be used on any thread. The session calls its delegate and completion handlers on the delegate queue. It retains the
/// delegate until `urlSession(_:didBecomeInvalidWithError:)` has returned. If the program releases a session without invalidating
/// it, the session is deallocated when its last task has finished. The class is open, so the compiler cannot verify that it is
/// `Sendable`. It is, because its only stored property, the core, is a constant.
open class URLSession: NSObject, @unchecked Sendable {
    /// A delegate's answer to a challenge.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the credential that is passed with this value; without one, continue without a credential.
        case useCredential = 0
        /// Continue as if there were no delegate.
        case performDefaultHandling = 1
        /// Cancel the task.
        case cancelAuthenticationChallenge = 2
        /// Reject this authentication method. The delegate is then asked about the next method that the server offers.
        case rejectProtectionSpace = 3
    }

    /// A delegate's decision about the content of a response.
    public enum ResponseDisposition: Int, Sendable {
        /// Cancel the task.
        case cancel = 0
        /// Deliver the content.
        case allow = 1
        /// Continue the task as a download task.
        case becomeDownload = 2
        /// Continue the task as a stream task.
        case becomeStream = 3
    }

    /// A delegate's decision about a delayed task that is about to begin.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// Begin with the original request.
        case continueLoading = 0
        /// Begin with the request that is passed with this value.
        case useNewRequest = 1
        /// Cancel the task.
        case cancel = 2
    }

    /// The implementation of the session.
    let core: SessionCore

    /// The shared session of the process, with the default configuration and no delegate. It cannot be invalidated.
    public static let shared = URLSession(SessionCore(.default, delegate: nil, queue: nil, isShared: true))

    /// Creates a session without a delegate.
    public init(configuration: URLSessionConfiguration) {
        core = SessionCore(configuration, delegate: nil, queue: nil, isShared: false)
        super.init()
    }

    /// Creates a session with the default configuration, for subclasses whose methods do not use this class to load.
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

    /// Creates a session with this core.
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

    /// Removes all cookies, cached responses and credentials from the session's stores, and closes idle connections. Then calls
    /// the handler on the delegate queue.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        core.reset(self, completionHandler)
    }

    /// Has the stores write their contents to the disk, and closes idle connections. Then calls the handler on the delegate
    /// queue.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        core.flush(self, completionHandler)
    }

    /// Calls the handler on the delegate queue with all unfinished tasks, including those that were never resumed.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        core.queue.add { [self] in completionHandler(core.unfinishedTasks()) }
    }

    /// Calls the handler on the delegate queue with the unfinished data, upload and download tasks.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
            ) -> Void
    ) {
        core.queue.add { [self] in
            let tasks = core.unfinishedTasks()
            // Upload tasks are data tasks, too, because their class is a subclass.
            let dataTasks = tasks.compactMap { $0 as? URLSessionDataTask }
                .filter { !($0 is URLSessionUploadTask) }
            let uploadTasks = tasks.compactMap { $0 as? URLSessionUploadTask }
            let downloadTasks = tasks.compactMap { $0 as? URLSessionDownloadTask }
            completionHandler(dataTasks, uploadTasks, downloadTasks)
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

    /// All unfinished tasks, including those that were never resumed.
    public var allTasks: [URLSessionTask] {
        get async {
            await withCheckedContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }

    // MARK: tasks

    // Tasks are created suspended. Creating a task never fails: a task whose request cannot be loaded fails after it is resumed
    // (U-16.3), and a task of an invalidated session completes as cancelled (U-4.4).

    /// Creates a data task that passes its response and content to the delegate.
    open func dataTask(with request: URLRequest) -> URLSessionDataTask {
        makeDataTask(TaskDefinition(kind: .data, request: request, body: .request), DelegateSink.shared)
    }

    /// Creates a data task that passes its response and content to the delegate.
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

    /// Creates an upload task that sends data and passes the response to the delegate.
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .data(bodyData)), DelegateSink.shared)
    }

    /// Creates an upload task that sends a file and passes the response to the delegate. The task fails if the file cannot be
    /// read.
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .file(fileURL)), DelegateSink.shared)
    }

    /// Creates an upload task that sends a body stream, which the delegate supplies. The task fails if the delegate supplies
    /// none.
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        makeUploadTask(TaskDefinition(kind: .upload, request: request, body: .streamed), DelegateSink.shared)
    }

    /// Creates an upload task that sends data, and calls the handler on the delegate queue when it ends: with content and
    /// response, or with the error and without content. If the data is nil, the body is empty.
    open func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .data(bodyData ?? Data())),
            collecting(completionHandler))
    }

    /// Creates an upload task that sends a file, and calls the handler on the delegate queue when it ends: with content and
    /// response, or with the error and without content.
    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(
            TaskDefinition(kind: .upload, request: request, body: .file(fileURL)),
            collecting(completionHandler))
    }

    /// Creates an upload task that always fails with `unsupportedURL`, because uploads cannot be resumed: the program has to
    /// upload from the start. `URLSessionUploadTask.cancel(byProducingResumeData:)` therefore passes nil to its handler.
    open func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        makeFailingUploadTask(DelegateSink.shared)
    }

    /// Creates an upload task that always fails with `unsupportedURL`, because uploads cannot be resumed. The task calls the
    /// handler with this error on the delegate queue.
    open func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeFailingUploadTask(collecting(completionHandler))
    }

    /// Creates a download task that passes the location of its file to the delegate.
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        makeDownloadTask(request, handler: nil)
    }

    /// Creates a download task that passes the location of its file to the delegate.
    open func downloadTask(with url: URL) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// Creates a download task that calls the handler on the delegate queue when it ends: with file and response, or with the
    /// error and without a file. The task removes the file when the handler returns.
    open func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(request, handler: completionHandler)
    }

    /// Creates a download task that calls the handler on the delegate queue when it ends: with file and response, or with the
    /// error and without a file. The task removes the file when the handler returns.
    open func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Creates a download task that continues the download of another task.
    ///
    /// The task fails with `unsupportedURL` if the data is not resume data. It downloads the whole resource if the partial file
    /// does not exist or the server has another version of the resource.
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, handler: nil)
    }

    /// Creates a download task that continues the download of another task, and calls the handler on the delegate queue when it
    /// ends.
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

    /// Creates a WebSocket task that offers these subprotocols to the server; none if the array is empty.
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        var request = URLRequest(url: url)
        if !protocols.isEmpty {
            request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
        return webSocketTask(with: request)
    }

    /// Creates a WebSocket task. The request may offer subprotocols, in the header field `Sec-WebSocket-Protocol`.
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        makeWebSocketTask(request)
    }

    /// Creates a stream task, which connects to this host and port.
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        makeStreamTask(host: hostname, port: port)
    }

    // MARK: used within the module

    /// Returns a sink (a receiver of a task's response) that collects the content and passes it to the handler.
    private func collecting(
        _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> any TaskSink {
        CollectingSink(limit: collectedBodyLimit, handler)
    }

    /// Creates a data task that passes its response to this sink.
    func makeDataTask(
        _ definition: TaskDefinition, _ sink: any TaskSink, delegate: DelegateSet? = nil
    ) -> URLSessionDataTask {
        let task = core.makeTask(definition, sink: sink)
        // Returns the new task object.
        return task.begin(as: URLSessionDataTask(task), in: self, delegate: delegate)
    }

    /// Creates an upload task that passes its response to this sink.
    func makeUploadTask(
        _ definition: TaskDefinition, _ sink: any TaskSink, delegate: DelegateSet? = nil
    ) -> URLSessionUploadTask {
        let task = core.makeTask(definition, sink: sink)
        // Returns the new task object.
        return task.begin(as: URLSessionUploadTask(task), in: self, delegate: delegate)
    }

    /// Creates an upload task that fails when it is resumed, because uploads cannot be resumed (U-7.14).
    private func makeFailingUploadTask(_ sink: any TaskSink) -> URLSessionUploadTask {
        let task = core.makeTask(originalRequest: nil, sink: sink) { task in
            FailedLoad(
                .loading(.unsupportedURL, url: nil, reason: "uploads leave no resume data"),
                created: task.created, client: task)
        }
        // Returns the new task object.
        return task.begin(as: URLSessionUploadTask(task), in: self, delegate: nil)
    }

    /// Returns the delegate to which the default implementation of a method forwards its call.
    ///
    /// - Parameters:
    ///   - delegate: The delegate that does not implement the method.
    ///   - task: The task that the call is about.
    /// - Returns: The session's delegate, if `delegate` is the task's own delegate and not the same object; otherwise nil.
    func successor(of delegate: any URLSessionDelegate, for task: URLSessionTask) -> DelegateSet? {
        guard task.core.ownDelegates?.session === delegate else { return nil }
        guard let next = core.delegates, next.session !== delegate else { return nil }
        return next
    }
}
