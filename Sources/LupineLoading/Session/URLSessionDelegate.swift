// SPDX-License-Identifier: MIT

public import Foundation

/// The methods that a session calls about itself and about all its tasks.
///
/// Every method of this and the following protocols is optional: each has a default implementation, which does the same as a
/// session without a delegate. The session calls all methods on its delegate queue, and never two at once for the same task. The
/// delegate may call a completion handler on any thread. The task waits for the first call and ignores further ones.
///
/// A task may have a delegate of its own (`URLSessionTask.delegate`). The methods of that delegate are called instead of those of
/// the session's delegate. If that delegate does not implement a method, the default implementation runs, and calls the method of
/// the session's delegate.
///
/// A method with a completion handler also has an `async` form. A class implements one of the two forms; if it implements both,
/// the session calls the one with the handler. The `async` form does not run on the delegate queue. When the task is cancelled,
/// the Swift task that runs the `async` form is cancelled too. If a class conforms to the protocol, its subclasses cannot add a
/// form that the class does not implement.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session has become invalid. Called after the last call for any of its tasks. The error is always nil.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A connection asks whether the server is trusted, or for the client certificate to send. If the delegate does not implement
    /// this method, the session calls the method for tasks.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The `async` form of the method above.
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

    /// The `async` form of the method above.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// There is no connectivity, and the task waits for it. Called at most once.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The server redirects the task. Call the handler with the request to continue with, or with nil to deliver the redirect
    /// itself as the response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The `async` form of the method above.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// A server or a proxy asks for authentication. Also called for a challenge of the connection, if the delegate does not
    /// implement the method for sessions.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The `async` form of the method above.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The task needs the body stream of a streamed upload, for the first time or again. The task fails if the answer is nil.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The `async` form of the method above.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
        -> InputStream?

    /// The task needs the body stream of a streamed upload, from this byte offset on. Never called by sessions on Linux, which do
    /// not resume uploads. If the offset is 0, the default implementation calls the method without an offset.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The `async` form of the method above.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
    ) async -> InputStream?

    /// The task has sent a part of its body. The expected total is -1 if it is not known.
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

    /// The task has completed; the error is nil if the load succeeded. This is the last call for a task.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

/// The methods that a session calls about data and upload tasks that have no completion handler.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The response has arrived. The task waits until the handler is called with what to do with the content.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The `async` form of the method above.
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

    /// The session is about to store the response in its cache. Call the handler with the response to store, or with nil to store
    /// nothing.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// The `async` form of the method above.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

/// The methods that a session calls about download tasks that have no completion handler.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The content is complete. The session removes the file when the method returns, so move it or open it before.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// The task has written a part of its content to the file. The expected total is -1 if it is not known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// The task continues the download of an earlier task at this offset. The expected total is -1 if it is not known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
}

/// The methods that a session calls about stream tasks.
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// The direction for reading is closed, by the program or by the peer.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// The direction for writing is closed.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// There is a better route to the host, such as Wi-Fi instead of a modem. Never called: Linux does not report this.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// `captureStreams()` has separated the connection from the task, which completes. The streams read from the connection and
    /// write to it.
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

/// The methods that a session calls about WebSocket tasks.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The opening handshake is complete. `protocol` is the offered subprotocol that the server has chosen; nil for none.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// The WebSocket was closed, by the server or by the program. If the program has closed it, the server may not have answered.
    /// The code and reason are those of the side that has closed it first.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}
