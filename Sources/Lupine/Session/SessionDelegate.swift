// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Receives the callbacks of a `URLSession` and forwards them to the monitors, then to the request.
///
/// The `URLSession` calls the methods on the session's root queue. The class can be subclassed. If an override does not call
/// `super`, the request does not receive the callback.
///
/// Methods that the library does not need are implemented too, so that they can be overridden: a subclass cannot add a method for
/// which the protocol has a default implementation. Each of them does what the default does.
///
/// Methods with a completion handler also have an asynchronous form. A subclass overrides one of the two. An override of the
/// asynchronous form replaces what this class does. An override of the completion handler form comes first: the asynchronous form
/// is then called only if the override calls `super`. Without a subclass, the completion handler form answers directly, which
/// saves a Swift task.
///
/// `@unchecked Sendable`, because the compiler cannot check a class that can be subclassed. All mutable state is in `state`.
open class SessionDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionWebSocketDelegate, @unchecked Sendable
{
    private struct State {
        /// The session; nil once it has been deallocated.
        weak var provider: (any SessionStateProvider)?
        var eventMonitor: CompositeEventMonitor?
        /// Stored here and not read from the session, because connections to servers that it has accepted outlive the session.
        var serverTrustManager: ServerTrustManager?
        /// Called when the `URLSession` of a deallocated session has become invalid.
        var invalidationHandler: Request.Job?
        /// Whether the `URLSession` has become invalid.
        var isInvalid = false
    }

    private let fileManager: FileManager
    private let state = Protected(State())

    /// Creates a delegate that moves downloads with `fileManager`.
    public init(fileManager: FileManager = .default) {
        self.fileManager = fileManager
        super.init()
    }

    /// Connects the delegate to a session, which it does not retain.
    func connect(
        to provider: any SessionStateProvider, eventMonitor: CompositeEventMonitor,
        serverTrustManager: ServerTrustManager?
    ) {
        // The old objects are returned so that they are released outside of the lock.
        _ = state.write { state -> (CompositeEventMonitor?, ServerTrustManager?) in
            let oldObjects = (state.eventMonitor, state.serverTrustManager)
            (state.provider, state.eventMonitor) = (provider, eventMonitor)
            state.serverTrustManager = serverTrustManager
            return oldObjects
        }
    }

    /// Calls `handler` when the `URLSession` has become invalid. If it is invalid already, does not call the handler and returns
    /// false. Called when the session is deallocated.
    func runOnInvalidation(_ handler: @escaping @Sendable () -> Void) -> Bool {
        // The old handler is returned so that it is released outside of the lock.
        let (isStored, _) = state.write { state -> (Bool, Request.Job?) in
            if state.isInvalid { return (false, nil) }
            let oldHandler = state.invalidationHandler
            state.invalidationHandler = Request.Job(run: handler)
            return (true, oldHandler)
        }
        return isStored
    }

    /// The manager that evaluates the trust of servers; nil leaves that to the loading system.
    var serverTrustManager: ServerTrustManager? { state.read { $0.serverTrustManager } }

    /// The receivers of a task's callbacks.
    struct CallbackReceivers {
        let provider: (any SessionStateProvider)?
        let eventMonitor: CompositeEventMonitor?
        /// The task's request.
        let request: Request?
    }

    /// The receivers of the callbacks that are not about a task.
    private var sessionReceivers:
        (provider: (any SessionStateProvider)?, eventMonitor: CompositeEventMonitor?)
    {
        state.read { ($0.provider, $0.eventMonitor) }
    }

    /// Returns the receivers of a task's callbacks. First lets the request report its pending calls of `resume`, `suspend` and
    /// `cancel`, which precede all callbacks of the task.
    func receivers(of task: URLSessionTask) -> CallbackReceivers {
        let (provider, eventMonitor) = sessionReceivers
        let request = provider?.request(for: task)
        request?.deliverPendingReports()
        return CallbackReceivers(provider: provider, eventMonitor: eventMonitor, request: request)
    }

    // MARK: the session

    /// Finishes the remaining requests of the session.
    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let (provider, eventMonitor) = sessionReceivers
        eventMonitor?.urlSession(session, didBecomeInvalidWithError: error)
        provider?.cancelRequestsForSessionInvalidation(with: error)
        let handler = state.write { state in
            defer { state.invalidationHandler = nil }
            state.isInvalid = true
            return state.invalidationHandler
        }
        handler?.run()
    }

    /// Passes a challenge about a connection (server trust or client certificate) on to the method for tasks. If an override
    /// answers the challenge, the credentials of requests and the session's evaluators are not used.
    open func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard isSubclass else {
            return DefaultImplementations.shared.urlSession(
                session, didReceive: challenge, completionHandler: completionHandler)
        }
        // Calls the asynchronous form in a Swift task. Here and in the methods below, cancelling the `URLSessionTask` cancels
        // that Swift task. Nil stands for a challenge about a connection, which belongs to no `URLSessionTask`.
        session.callAsyncForm(for: nil) {
            await self.urlSession(session, didReceive: challenge)
        } completion: {
            completionHandler($0.0, $0.1)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    ) { await DefaultImplementations.shared.urlSession(session, didReceive: challenge) }

    // MARK: tasks of any kind

    /// Does nothing.
    open func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {}

    /// Continues with the request as it is. Sessions on Linux never delay tasks.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        guard isSubclass else {
            return DefaultImplementations.shared.urlSession(
                session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
        }
        session.callAsyncForm(for: task) {
            await self.urlSession(session, task: task, willBeginDelayedRequest: request)
        } completion: {
            completionHandler($0.0, $0.1)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        await DefaultImplementations.shared.urlSession(session, task: task, willBeginDelayedRequest: request)
    }

    /// Answers a challenge with the request's credential, with a stored client identity, or with the result of the host's trust
    /// evaluator.
    ///
    /// If an override answers with a user name and password, only this task uses them. Credentials for the whole session belong
    /// in its `URLCredentialStorage`.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard isSubclass else { return answer(challenge, of: task, in: session, completionHandler) }
        session.callAsyncForm(for: task) {
            await self.urlSession(session, task: task, didReceive: challenge)
        } completion: {
            completionHandler($0.0, $0.1)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        // Calls the closure on the delegate queue, and waits until it calls `reply` or the Swift task is cancelled.
        let answer = await session.awaitAnswer(
            orWhenCancelled: ChallengeReply(.cancelAuthenticationChallenge, nil)
        ) { reply in
            self.answer(challenge, of: task, in: session) { reply(ChallengeReply($0, $1)) }
        }
        return (answer.disposition, answer.credential)
    }

    /// Reports to the request how much of its body has been sent.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let receivers = receivers(of: task)
        receivers.eventMonitor?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
        receivers.request?.updateUploadProgress(completed: totalBytesSent, total: totalBytesExpectedToSend)
    }

    /// Provides the stream of an upload.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard isSubclass else { return completionHandler(bodyStream(of: task, in: session)) }
        session.callAsyncForm(for: task) {
            await self.urlSession(session, needNewBodyStreamForTask: task).map { BodyStream($0) }
        } completion: {
            completionHandler($0?.value)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
        -> InputStream?
    {
        await session.awaitAnswer(orWhenCancelled: nil) { reply in
            reply(self.bodyStream(of: task, in: session).map { BodyStream($0) })
        }?.value
    }

    /// Provides the stream of an upload if `offset` is 0, otherwise none.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard isSubclass else {
            guard offset == 0 else { return completionHandler(nil) }
            return urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
        session.callAsyncForm(for: task) {
            await self.urlSession(session, task: task, needNewBodyStreamFrom: offset).map { BodyStream($0) }
        } completion: {
            completionHandler($0?.value)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
    ) async -> InputStream? {
        guard offset == 0 else { return nil }
        return await session.awaitAnswer(orWhenCancelled: nil) { reply in
            self.urlSession(session, task: task, needNewBodyStream: { reply($0.map { BodyStream($0) }) })
        }?.value
    }

    /// Does nothing.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {}

    /// Asks the redirect handler of the request, or else of the session.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard isSubclass else {
            return redirect(task, by: response, to: request, in: session, completionHandler)
        }
        session.callAsyncForm(for: task) {
            await self.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        } completion: {
            completionHandler($0)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        await session.awaitAnswer(orWhenCancelled: nil) { reply in
            self.redirect(task, by: response, to: request, in: session, reply)
        }
    }

    /// Stores the metrics in the request.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let receivers = receivers(of: task)
        receivers.eventMonitor?.urlSession(session, task: task, didFinishCollecting: metrics)
        guard let request = receivers.request else { return }
        request.performStepOnRoot { request.didGatherMetrics(metrics) }
        receivers.provider?.didGatherMetrics(for: task)
    }

    /// Reports to the request that its task has ended, once the metrics have arrived too.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let receivers = receivers(of: task)
        receivers.eventMonitor?.urlSession(session, task: task, didCompleteWithError: error)
        guard let request = receivers.request else { return }
        let failure = error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
        receivers.provider?.didComplete(task) {
            request.performStepOnRoot { request.didCompleteTask(task, with: failure) }
        }
    }

    /// Reports to the monitors that a task waits for a connection to the network. The request is not involved.
    open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        receivers(of: task).eventMonitor?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    // MARK: data and upload tasks

    /// Asks the request whether the content is to be received.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard isSubclass else {
            return chooseDisposition(of: response, for: dataTask, in: session, completionHandler)
        }
        session.callAsyncForm(for: dataTask) {
            await self.urlSession(session, dataTask: dataTask, didReceive: response)
        } completion: {
            completionHandler($0)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        await session.awaitAnswer(orWhenCancelled: .cancel) { reply in
            self.chooseDisposition(of: response, for: dataTask, in: session, reply)
        }
    }

    /// Passes a piece of content to the request.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let receivers = receivers(of: dataTask)
        receivers.eventMonitor?.urlSession(session, dataTask: dataTask, didReceive: data)
        switch receivers.request {
        case let request as DataRequest:
            request.didReceive(data, of: dataTask, upTo: session.collectedBodyLimit)
        case let request as DataStreamRequest: request.didReceive(data)
        default: break
        }
    }

    /// Asks the cached response handler of the request, or else of the session.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard isSubclass else { return cache(proposedResponse, of: dataTask, in: session, completionHandler) }
        session.callAsyncForm(for: dataTask) {
            await self.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        } completion: {
            completionHandler($0)
        }
    }

    /// The asynchronous form of the method above.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        await session.awaitAnswer(orWhenCancelled: nil) { reply in
            self.cache(proposedResponse, of: dataTask, in: session, reply)
        }
    }

    /// Does nothing.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {}

    /// Does nothing.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {}

    // MARK: download tasks

    /// Reports to the request the offset at which its download resumes.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        let receivers = receivers(of: downloadTask)
        receivers.eventMonitor?.urlSession(
            session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
            expectedTotalBytes: expectedTotalBytes)
        receivers.request?.updateDownloadProgress(addingBytes: fileOffset, total: expectedTotalBytes)
    }

    /// Reports to the request how much more has been written.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let receivers = receivers(of: downloadTask)
        receivers.eventMonitor?.urlSession(
            session, downloadTask: downloadTask, didWriteData: bytesWritten,
            totalBytesWritten: totalBytesWritten, totalBytesExpectedToWrite: totalBytesExpectedToWrite)
        receivers.request?.updateDownloadProgress(addingBytes: bytesWritten, total: totalBytesExpectedToWrite)
    }

    /// Moves the file to the request's destination.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let receivers = receivers(of: downloadTask)
        receivers.eventMonitor?.urlSession(
            session, downloadTask: downloadTask, didFinishDownloadingTo: location)
        guard let request = receivers.request as? DownloadRequest else { return }
        let (destination, options) = request.resolveDestination(for: location, downloadTask.response)
        receivers.eventMonitor?.request(request, didCreateDestinationURL: destination)
        do {
            try fileManager.moveDownload(location, to: destination, options: options)
            request.didFinishDownloading(using: downloadTask, with: .success(destination))
        } catch {
            request.didFinishDownloading(
                using: downloadTask,
                with: .failure(
                    .downloadedFileMoveFailed(error: error, source: location, destination: destination)))
        }
    }

    // MARK: web sockets

    /// Reports to the request that its connection was opened.
    open func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        (receivers(of: webSocketTask).request as? WebSocketRequest)?.didOpen(with: `protocol`)
    }

    /// Reports to the request that its connection was closed.
    open func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        (receivers(of: webSocketTask).request as? WebSocketRequest)?.didClose(with: closeCode, reason: reason)
    }
}

/// The answer to a challenge, as one value that `awaitAnswer` can return.
private struct ChallengeReply: Sendable {
    let disposition: URLSession.AuthChallengeDisposition
    let credential: URLCredential?

    init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        self.disposition = disposition
        self.credential = credential
    }
}

/// A delegate that implements no method, so that calls reach the default implementations of the protocols.
private final class DefaultImplementations: NSObject, URLSessionTaskDelegate {
    static let shared = DefaultImplementations()
}

extension SessionDelegate: SelectiveDelegate {
    /// Whether the delegate's `urlSession(_:didCreateTask:)` has an effect. True for a subclass, which may have overridden it.
    package var needsDidCreateTask: Bool { isSubclass }

    /// The object that decides whether a server is trusted: the session's evaluators, also after the session was deallocated. For
    /// a subclass it is the delegate itself, because the subclass may have overridden the methods for challenges.
    package var trustJudge: (any AnyObject & Sendable)? {
        isSubclass ? self : serverTrustManager
    }

    /// Whether the delegate's class is a subclass, which the program has defined and which may have overridden any method.
    var isSubclass: Bool { type(of: self) != SessionDelegate.self }
}

extension SessionDelegate: ServerTrustDeferring {
    /// Whether the loading system evaluates the trust of the host, because no evaluator does. False for a subclass, which may do
    /// so itself.
    package func defersServerTrust(ofHost host: String) -> Bool {
        guard !isSubclass else { return false }
        guard let manager = serverTrustManager else { return true }
        return manager.usesDefaultEvaluation(forHost: host)
    }
}
