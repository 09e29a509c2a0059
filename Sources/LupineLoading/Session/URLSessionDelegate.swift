// SPDX-License-Identifier: MIT

public import Foundation

/// The methods that a session calls about itself and about all its tasks.
///
/// Every method of this and the following protocols is optional: each has a default implementation, which does what happens
/// without a delegate. The session calls all methods on its delegate queue, those about one task one after the other. A
/// completion handler may be called on any thread; calls after the first are ignored. The task waits until it is called.
///
/// A delegate of one task (`URLSessionTask.delegate`) is asked before the session's, method by method. A default implementation
/// that is called for such a delegate forwards the call to the session's delegate: this is what "not implemented" means in
/// Swift.
///
/// A method with a completion handler has an asynchronous form as well. A class implements one of the two; if it implements
/// both, the one with the handler is called. The asynchronous form runs on no queue of the session's; when the task is
/// cancelled, so is the Swift task that it runs in. A class that inherits its conformance from a class with neither form cannot
/// add one.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session has become invalid. Called after the last call for any of its tasks. The error is always nil.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A challenge of a connection: whether the server is trusted, or which certificate is shown to it. If the method is not
    /// implemented, the one for tasks is called.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same, asynchronous.
    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    )
}

/// The methods that a session calls about a task of any kind.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task was created. It may not have been resumed yet.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// A delayed task is about to begin. Not called by sessions on Linux, which never delay tasks.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// There is no connectivity, and the task waits for it. Called at most once.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The server redirects. The handler takes the request to continue with, or nil to deliver the redirect itself as the
    /// response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// A server or a proxy asks for authentication, or a challenge of the connection was not answered by the method for
    /// sessions.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The body of a streamed upload is needed, for the first time or again. Nil fails the task.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The same, asynchronous.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
        -> InputStream?

    /// The body of a streamed upload is needed from that byte on. Not called by sessions on Linux, which never resume uploads.
    /// The default asks for the stream if the offset is 0.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
    ) async -> InputStream?

    /// More of the body has been sent. The expected total is -1 if it is not known.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// An informational response (1xx) has arrived; the final one follows.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse)

    /// The metrics of a task are complete. Called once for each task, just before `urlSession(_:task:didCompleteWithError:)`.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The task has completed; the error is nil if the load succeeded. The last call for a task.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

/// The methods that a session calls about data and upload tasks without a completion handler.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The response has arrived. The task waits until the handler is called with what to do with the content.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The same, asynchronous.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// The data task continues as a download task, because the delegate has answered the response with `.becomeDownload`. No more
    /// calls follow for the data task.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// The data task continues as a stream task, because the delegate has answered the response with `.becomeStream`. No more
    /// calls follow for the data task.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// The next piece of the content has arrived; never empty.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// The response may be cached. The handler takes the response to store, or nil to store nothing.
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

/// The methods that a session calls about download tasks without a completion handler.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The content is in a file that is removed when the method returns: move it, or open it.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// More has been written to the file. The expected total is -1 if it is not known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// A download resumes where an earlier one ended.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
}

/// The methods that a session calls about stream tasks.
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Nothing more can be read.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Nothing more can be written.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// There is a better route to the host, such as Wi-Fi instead of a modem. Never called: on Linux the kernel chooses the
    /// route and does not report this.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// `captureStreams()` has taken the connection out of the task, which completes. The streams read from and write to it.
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

/// The methods that a session calls about WebSocket tasks.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The handshake is complete. The server chose this subprotocol of those that were offered, or none.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// A close frame has been received: the server closes the connection, or answers the program's close frame.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}
