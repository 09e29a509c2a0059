// SPDX-License-Identifier: MIT

public import Foundation

/// What a session tells about itself and asks for all its tasks.
///
/// Every method of this and the following protocols is optional: each has a default implementation, which does what
/// happens without a delegate. All are called on the session's delegate queue, those of one task never at once. A
/// completion handler may be called from any thread; calls after the first are ignored. Until it is called, its task
/// stands still.
///
/// A delegate of one task (`URLSessionTask.delegate`) is asked before the session's, method by method. A default
/// implementation that finds itself called for such a delegate passes the call on to the session's delegate: that is
/// what "not implemented" comes to in Swift.
///
/// A method with a completion handler has an asynchronous form as well; a class implements one of the two, and of a class that has
/// both the one with the handler is called. The asynchronous form runs on no queue of the session's; when the task is cancelled,
/// so is the Swift task that it runs in. A class that inherits its conformance from a class with neither form cannot add one.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session has ended, after the last call for any of its tasks. The error is nil.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A question about the connection: is the server trusted, which certificate is to be shown to it. What is not
    /// implemented here goes to the method of the same kind for tasks.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same, asynchronous.
    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    )
}

/// What a session tells and asks about a task of any kind.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task was created. It may not have been resumed yet.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// A task that was to begin later would begin now. Not called by sessions on Linux, which never delay tasks.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// There is no way to the network; the task waits for one. Called once at most.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The server redirects: the handler is to be given the request to go on with, or nil to take the redirect itself
    /// as the response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// A server or a proxy asks who is there, or a question about the connection has not been answered for the session.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The body of a streamed upload is needed, at first or again. Nil fails the task.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The same, asynchronous.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
        -> InputStream?

    /// The body of a streamed upload is needed from that byte on. Not implemented, it is asked for from the first byte
    /// on.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
    ) async -> InputStream?

    /// So much of the body has been sent. The expected total is -1 when it is not known.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// An informational response (1xx) has come; the real one follows.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse)

    /// What was measured: once for each task, just before it completes.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The last call for a task; the error is nil when the load was a success.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

/// What a session tells and asks about data and upload tasks without a completion handler.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The response is there; its content comes when the handler has been told what to do with it.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// The data task goes on as a download task, as the answer to its response asked. Nothing more comes for the data
    /// task.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// The data task goes on as a stream task, as the answer to its response asked. Nothing more comes for the data
    /// task.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// The next piece of the content: what has come at once, never empty.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// The response may be cached: the handler is to be given what is to be stored, or nil for nothing.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

/// What a session tells about download tasks without a completion handler.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The content is in a file, which is gone when the method has returned: move it, or open it.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// So much more has been written to the file. The expected total is -1 when it is not known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// A download goes on where an earlier one ended.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
}

/// What a session tells about stream tasks.
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Nothing more can be read.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Nothing more can be written.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// There is a better way to the host, such as Wi-Fi instead of a modem. Never called: the kernel chooses the way, and
    /// there is no such news on Linux.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The streams that were asked for with `captureStreams()`.
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

/// What a session tells about WebSocket tasks.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The handshake is done; the server chose this protocol of those that were offered, or none.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// A close frame has come, or the answer to one.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}
