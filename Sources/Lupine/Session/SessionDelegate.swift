// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Takes what a `URLSession` tells, and passes it on to the monitors, then to the request.
///
/// Called on the session's root queue. It can be subclassed; an override that does not call `super` takes the matter out of
/// the request's hands. So the compiler cannot see that it is `Sendable`: what changes stands in one locked state.
///
/// Methods that the pipeline has no use for are here too, for overrides: what a protocol has a default for, a subclass
/// cannot add. Each does what the default does.
///
/// Methods with a completion handler have an asynchronous form beside them. A subclass overrides either: an asynchronous form takes
/// the place of what this class does by itself, and an override of the other one is called before both.
open class SessionDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionWebSocketDelegate, @unchecked Sendable
{
    private struct State {
        weak var provider: (any SessionStateProvider)?
        var eventMonitor: CompositeEventMonitor?
        /// The session's: connections that it has accepted outlive the session.
        var serverTrustManager: ServerTrustManager?
        /// What is done when the `URLSession` of a session that has gone has become invalid.
        var ending: Request.Job?
        var isInvalid = false
    }

    private let fileManager: FileManager
    private let state = Protected(State())

    /// A delegate that moves downloads with `fileManager`.
    public init(fileManager: FileManager = .default) {
        self.fileManager = fileManager
        super.init()
    }

    /// Serves that session, without keeping it alive.
    func serve(
        _ provider: any SessionStateProvider, telling eventMonitor: CompositeEventMonitor,
        judging serverTrustManager: ServerTrustManager?
    ) {
        _ = state.write { state -> (CompositeEventMonitor?, ServerTrustManager?) in
            let old = (state.eventMonitor, state.serverTrustManager)
            (state.provider, state.eventMonitor) = (provider, eventMonitor)
            state.serverTrustManager = serverTrustManager
            return old
        }
    }

    /// The session goes: `ending` runs when its `URLSession` has become invalid. Returns whether that is still to come: it
    /// does not run otherwise.
    func sessionEnds(_ ending: @escaping @Sendable () -> Void) -> Bool {
        let (isComing, _) = state.write { state -> (Bool, Request.Job?) in
            if state.isInvalid { return (false, nil) }
            let old = state.ending
            state.ending = Request.Job(run: ending)
            return (true, old)
        }
        return isComing
    }

    /// Who hears of what a task tells.
    private struct Audience {
        let provider: (any SessionStateProvider)?
        let eventMonitor: CompositeEventMonitor?
        /// The task's request.
        let request: Request?
    }

    private var listeners: (provider: (any SessionStateProvider)?, eventMonitor: CompositeEventMonitor?) {
        state.read { ($0.provider, $0.eventMonitor) }
    }

    /// Who hears of the task, once its request has told what its user did: that comes before whatever the task tells.
    private func audience(of task: URLSessionTask) -> Audience {
        let (provider, eventMonitor) = listeners
        let request = provider?.request(for: task)
        request?.tellNews()
        return Audience(provider: provider, eventMonitor: eventMonitor, request: request)
    }

    // MARK: the session

    /// Ends what is left of the session's requests.
    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let (provider, eventMonitor) = listeners
        eventMonitor?.urlSession(session, didBecomeInvalidWithError: error)
        provider?.cancelRequestsForSessionInvalidation(with: error)
        let ending = state.write { state in
            defer { state.ending = nil }
            state.isInvalid = true
            return state.ending
        }
        ending?.run()
    }

    /// A question about the connection: whether the server is trusted, which certificate it is to be shown. It goes on to
    /// the method for tasks; an override that answers answers for all requests, before their credentials and the session's
    /// evaluators.
    open func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard isSubclass else {
            return Defaults.all.urlSession(
                session, didReceive: challenge, completionHandler: completionHandler)
        }
        session.ask(for: nil) {
            await self.urlSession(session, didReceive: challenge)
        } taken: {
            completionHandler($0.0, $0.1)
        }
    }

    /// The same, asynchronous.
    open func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    ) { await Defaults.all.urlSession(session, didReceive: challenge) }

    // MARK: tasks of any kind

    /// Does nothing.
    open func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {}

    /// Goes on with the request as it is. Sessions on Linux never delay tasks.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        guard isSubclass else {
            return Defaults.all.urlSession(
                session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
        }
        session.ask(for: task) {
            await self.urlSession(session, task: task, willBeginDelayedRequest: request)
        } taken: {
            completionHandler($0.0, $0.1)
        }
    }

    /// The same, asynchronous.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        await Defaults.all.urlSession(session, task: task, willBeginDelayedRequest: request)
    }

    /// Answers a challenge: with the request's credential or a stored identity, or with the judgement of the host's evaluator.
    ///
    /// A user name and password that an override answers with are this task's; what is to speak for the session goes into its
    /// `URLCredentialStorage`.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard isSubclass else { return answer(challenge, of: task, in: session, completionHandler) }
        session.ask(for: task) {
            await self.urlSession(session, task: task, didReceive: challenge)
        } taken: {
            completionHandler($0.0, $0.1)
        }
    }

    /// The same, asynchronous.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let answer = await session.answer(
            orWhenCancelled: ChallengeReply(.cancelAuthenticationChallenge, nil)
        ) { reply in
            self.answer(challenge, of: task, in: session) { reply(ChallengeReply($0, $1)) }
        }
        return (answer.disposition, answer.credential)
    }

    private func answer(
        _ challenge: URLAuthenticationChallenge, of task: URLSessionTask, in session: URLSession,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let audience = audience(of: task)
        audience.eventMonitor?.urlSession(session, task: task, didReceive: challenge)
        let space = challenge.protectionSpace
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate:
            guard challenge.previousFailureCount == 0 else {
                return completionHandler(.rejectProtectionSpace, nil)
            }
            guard let credential = audience.provider?.credential(for: task, in: space) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            completionHandler(.useCredential, credential)
        case NSURLAuthenticationMethodServerTrust:
            judge(space, of: task, audience, completionHandler)
        default: completionHandler(.performDefaultHandling, nil)
        }
    }

    private func judge(
        _ space: URLProtectionSpace, of task: URLSessionTask, _ audience: Audience,
        _ completionHandler: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = space.serverTrust, let manager = state.read({ $0.serverTrustManager }) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        do {
            guard let evaluator = try manager.serverTrustEvaluator(forHost: space.host) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            assertNoLockIsHeld()
            assertNotOnLoop()
            try evaluator.evaluate(trust, forHost: space.host)
            completionHandler(.useCredential, URLCredential(trust: trust))
        } catch {
            let failure = error.asAFError(
                or: .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: error)))
            audience.request?.didFailTask(task, earlyWithError: failure)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    /// Tells the request how much of its body has been sent.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let audience = audience(of: task)
        audience.eventMonitor?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
        audience.request?.updateUploadProgress(completed: totalBytesSent, total: totalBytesExpectedToSend)
    }

    /// Hands over the stream of an upload.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard isSubclass else { return completionHandler(bodyStream(of: task, in: session)) }
        session.ask(for: task) {
            await self.urlSession(session, needNewBodyStreamForTask: task).map { BodyStream($0) }
        } taken: {
            completionHandler($0?.value)
        }
    }

    /// The same, asynchronous.
    open func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
        -> InputStream?
    {
        await session.answer(orWhenCancelled: nil) { reply in
            reply(self.bodyStream(of: task, in: session).map { BodyStream($0) })
        }?.value
    }

    private func bodyStream(of task: URLSessionTask, in session: URLSession) -> InputStream? {
        let audience = audience(of: task)
        audience.eventMonitor?.urlSession(session, taskNeedsNewBodyStream: task)
        return (audience.request as? UploadRequest)?.inputStream()
    }

    /// Hands over the stream of an upload where it is needed from its first byte on; there is none from later on.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard isSubclass else {
            guard offset == 0 else { return completionHandler(nil) }
            return urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
        session.ask(for: task) {
            await self.urlSession(session, task: task, needNewBodyStreamFrom: offset).map { BodyStream($0) }
        } taken: {
            completionHandler($0?.value)
        }
    }

    /// The same, asynchronous.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
    ) async -> InputStream? {
        guard offset == 0 else { return nil }
        return await session.answer(orWhenCancelled: nil) { reply in
            self.urlSession(session, task: task, needNewBodyStream: { reply($0.map { BodyStream($0) }) })
        }?.value
    }

    /// Does nothing.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {}

    /// Asks the request's handler of redirects, or the session's.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard isSubclass else {
            return redirect(task, by: response, to: request, in: session, completionHandler)
        }
        session.ask(for: task) {
            await self.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        } taken: {
            completionHandler($0)
        }
    }

    /// The same, asynchronous.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        await session.answer(orWhenCancelled: nil) { reply in
            self.redirect(task, by: response, to: request, in: session, reply)
        }
    }

    private func redirect(
        _ task: URLSessionTask, by response: HTTPURLResponse, to request: URLRequest, in session: URLSession,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let audience = audience(of: task)
        audience.eventMonitor?.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        guard let handler = audience.request?.redirectHandler ?? audience.provider?.redirectHandler else {
            return completionHandler(request)
        }
        assertNoLockIsHeld()
        handler.task(task, willBeRedirectedTo: request, for: response, completion: completionHandler)
    }

    /// Gives the request its metrics.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let audience = audience(of: task)
        audience.eventMonitor?.urlSession(session, task: task, didFinishCollecting: metrics)
        guard let request = audience.request else { return }
        request.didGatherMetrics(metrics)
        audience.provider?.didGatherMetrics(for: task)
    }

    /// Tells the request that its task has ended, as soon as there are metrics too.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let audience = audience(of: task)
        audience.eventMonitor?.urlSession(session, task: task, didCompleteWithError: error)
        guard let request = audience.request else { return }
        let failure = error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
        audience.provider?.didComplete(task) { request.didCompleteTask(task, with: failure) }
    }

    /// Only the monitors hear of it.
    open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        audience(of: task).eventMonitor?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    // MARK: data and upload tasks

    /// Asks the request whether the content is wanted.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard isSubclass else { return judge(response, of: dataTask, in: session, completionHandler) }
        session.ask(for: dataTask) {
            await self.urlSession(session, dataTask: dataTask, didReceive: response)
        } taken: {
            completionHandler($0)
        }
    }

    /// The same, asynchronous.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        await session.answer(orWhenCancelled: .cancel) { reply in
            self.judge(response, of: dataTask, in: session, reply)
        }
    }

    private func judge(
        _ response: URLResponse, of dataTask: URLSessionDataTask, in session: URLSession,
        _ completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let audience = audience(of: dataTask)
        audience.eventMonitor?.urlSession(session, dataTask: dataTask, didReceive: response)
        guard let response = response as? HTTPURLResponse else { return completionHandler(.allow) }
        switch audience.request {
        case let request as DataRequest:
            request.didReceive(
                response, of: dataTask, upTo: session.collectedBodyLimit, completion: completionHandler)
        case let request as DataStreamRequest: request.didReceive(response, completion: completionHandler)
        default: completionHandler(.allow)
        }
    }

    /// Gives the request a piece of content.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let audience = audience(of: dataTask)
        audience.eventMonitor?.urlSession(session, dataTask: dataTask, didReceive: data)
        switch audience.request {
        case let request as DataRequest:
            request.didReceive(data, of: dataTask, upTo: session.collectedBodyLimit)
        case let request as DataStreamRequest: request.didReceive(data)
        default: break
        }
    }

    /// Asks the request's handler of cached responses, or the session's.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard isSubclass else { return cache(proposedResponse, of: dataTask, in: session, completionHandler) }
        session.ask(for: dataTask) {
            await self.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        } taken: {
            completionHandler($0)
        }
    }

    /// The same, asynchronous.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        await session.answer(orWhenCancelled: nil) { reply in
            self.cache(proposedResponse, of: dataTask, in: session, reply)
        }
    }

    private func cache(
        _ proposedResponse: CachedURLResponse, of dataTask: URLSessionDataTask, in session: URLSession,
        _ completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let audience = audience(of: dataTask)
        audience.eventMonitor?.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        guard
            let handler = audience.request?.cachedResponseHandler ?? audience.provider?.cachedResponseHandler
        else { return completionHandler(proposedResponse) }
        assertNoLockIsHeld()
        handler.dataTask(dataTask, willCacheResponse: proposedResponse, completion: completionHandler)
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

    /// Tells the request from where its download goes on.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        let audience = audience(of: downloadTask)
        audience.eventMonitor?.urlSession(
            session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
            expectedTotalBytes: expectedTotalBytes)
        audience.request?.updateDownloadProgress(addingBytes: fileOffset, total: expectedTotalBytes)
    }

    /// Tells the request how much more has been written.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let audience = audience(of: downloadTask)
        audience.eventMonitor?.urlSession(
            session, downloadTask: downloadTask, didWriteData: bytesWritten,
            totalBytesWritten: totalBytesWritten, totalBytesExpectedToWrite: totalBytesExpectedToWrite)
        audience.request?.updateDownloadProgress(addingBytes: bytesWritten, total: totalBytesExpectedToWrite)
    }

    /// Moves the file to where the request wants it.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let audience = audience(of: downloadTask)
        audience.eventMonitor?.urlSession(
            session, downloadTask: downloadTask, didFinishDownloadingTo: location)
        guard let request = audience.request as? DownloadRequest else { return }
        let (destination, options) = request.place(for: location, downloadTask.response)
        audience.eventMonitor?.request(request, didCreateDestinationURL: destination)
        do {
            if options.contains(.removePreviousFile), fileManager.fileExists(atPath: destination.path) {
                try fileManager.removeItem(at: destination)
            }
            if options.contains(.createIntermediateDirectories) {
                try fileManager.createDirectory(
                    at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            try move(location, to: destination)
            request.didFinishDownloading(using: downloadTask, with: .success(destination))
        } catch {
            request.didFinishDownloading(
                using: downloadTask,
                with: .failure(
                    .downloadedFileMoveFailed(error: error, source: location, destination: destination)))
        }
    }

    /// Moves a file. One that has to be copied, for the place is in another file system, leaves no half where that fails.
    private func move(_ file: URL, to destination: URL) throws {
        let isTaken = fileManager.fileExists(atPath: destination.path)
        do {
            try fileManager.moveItem(at: file, to: destination)
        } catch {
            let half = isTaken ? nil : try? fileManager.attributesOfItem(atPath: destination.path)
            if half?[.type] as? FileAttributeType == .typeRegular {
                try? fileManager.removeItem(at: destination)
            }
            throw error
        }
    }

    // MARK: web sockets

    /// Tells the request that it is connected.
    open func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        (audience(of: webSocketTask).request as? WebSocketRequest)?.didOpen(with: `protocol`)
    }

    /// Tells the request what its connection was closed with.
    open func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        (audience(of: webSocketTask).request as? WebSocketRequest)?.didClose(with: closeCode, reason: reason)
    }
}

/// What answers a challenge, as one value.
private struct ChallengeReply: Sendable {
    let disposition: URLSession.AuthChallengeDisposition
    let credential: URLCredential?

    init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        self.disposition = disposition
        self.credential = credential
    }
}

/// Implements nothing, so that what it is asked goes to the defaults of the protocols.
private final class Defaults: NSObject, URLSessionTaskDelegate {
    static let all = Defaults()
}

extension SessionDelegate: SelectiveDelegate {
    /// A subclass may have overridden the method.
    package var hearsOfNewTasks: Bool { isSubclass }

    /// The session's evaluators, also when the session has gone. A subclass may have overridden the methods for challenges:
    /// nobody can tell, so it counts as if it had.
    package var trustJudge: (any AnyObject & Sendable)? {
        isSubclass ? self : state.read { $0.serverTrustManager }
    }

    /// Whether it is of a class of the program's, which may have overridden any method.
    var isSubclass: Bool { type(of: self) != SessionDelegate.self }
}

extension SessionDelegate: ServerTrustDeferring {
    package func defersServerTrust(ofHost host: String) -> Bool {
        guard !isSubclass else { return false }
        guard let manager = state.read({ $0.serverTrustManager }) else { return true }
        return manager.leavesToDefault(host: host)
    }
}
