// SPDX-License-Identifier: MIT

public import Foundation

// The default implementations of the delegate methods. If `self` is the delegate of one task, a default implementation calls the
// session's delegate (see `URLSession.successor(of:for:)`). Otherwise it does what a session without a delegate does. The default
// implementation of a method that has two forms first calls the `async` form, if the class implements that (see `AsyncForm`).

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    /// Calls the `async` form. If the class does not implement that either, has the session call the method for tasks.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The method has no parameter for the task. `AsyncForm.challengedTask` is used instead.
        session.callAsyncFormIfImplemented(.sessionChallenge, of: type(of: self), for: nil) {
            await self.urlSession(session, didReceive: challenge)
        } completion: {
            completionHandler($0.0, $0.1)
        } ifMissing: {
            // A delegate without methods for challenges does not decide whether servers are trusted.
            ChallengeMethods.recordMissing(.session, in: type(of: self))
            completionHandler(.performDefaultHandling, URLCredential.notImplemented)
        }
    }

    /// Records that the class does not implement this form, and has the session call the method for tasks.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        AsyncForm.sessionChallenge.recordMissing(in: type(of: self))
        return (.performDefaultHandling, URLCredential.notImplemented)
    }
}

extension URLSessionTaskDelegate {
    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        session.successor(of: self, for: task)?.task?.urlSession(session, didCreateTask: task)
    }

    /// Calls the `async` form. If the class does not implement that either, calls the method of the session's delegate; without
    /// one, continues with the unchanged request.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        session.callAsyncFormIfImplemented(.delayedRequest, of: type(of: self), for: task) {
            await self.urlSession(session, task: task, willBeginDelayedRequest: request)
        } completion: {
            completionHandler($0.0, $0.1)
        } ifMissing: {
            guard let next = session.successor(of: self, for: task)?.task else {
                return completionHandler(.continueLoading, nil)
            }
            next.urlSession(
                session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
        }
    }

    /// Records that the class does not implement this form, and continues with the unchanged request.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        AsyncForm.delayedRequest.recordMissing(in: type(of: self))
        return (.continueLoading, nil)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        session.successor(of: self, for: task)?.task?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    /// Calls the `async` form. If the class does not implement that either, calls the method of the session's delegate; without
    /// one, follows the redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        session.callAsyncFormIfImplemented(.redirect, of: type(of: self), for: task) {
            await self.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        } completion: {
            completionHandler($0)
        } ifMissing: {
            guard let next = session.successor(of: self, for: task)?.task else {
                return completionHandler(request)
            }
            next.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: completionHandler)
        }
    }

    /// Records that the class does not implement this form, and follows the redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        AsyncForm.redirect.recordMissing(in: type(of: self))
        return request
    }

    /// Calls the `async` form. If the class does not implement that either, has the session call the method of its delegate;
    /// without one, answers with the default handling.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        session.callAsyncFormIfImplemented(.taskChallenge, of: type(of: self), for: task) {
            await self.urlSession(session, task: task, didReceive: challenge)
        } completion: {
            completionHandler($0.0, $0.1)
        } ifMissing: {
            ChallengeMethods.recordMissing(.task, in: type(of: self))
            completionHandler(.performDefaultHandling, URLCredential.notImplemented)
        }
    }

    /// Records that the class does not implement this form, and answers with the default handling.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        AsyncForm.taskChallenge.recordMissing(in: type(of: self))
        return (.performDefaultHandling, URLCredential.notImplemented)
    }

    /// Calls the `async` form. If the class does not implement that either, calls the method of the session's delegate; without
    /// one, supplies no stream.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        session.callAsyncFormIfImplemented(.bodyStream, of: type(of: self), for: task) {
            await self.urlSession(session, needNewBodyStreamForTask: task).map { BodyStream($0) }
        } completion: {
            completionHandler($0?.value)
        } ifMissing: {
            guard let next = session.successor(of: self, for: task)?.task else {
                return completionHandler(nil)
            }
            next.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
    }

    /// Records that the class does not implement this form, and supplies no stream.
    public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
        -> InputStream?
    {
        AsyncForm.bodyStream.recordMissing(in: type(of: self))
        return nil
    }

    /// Calls the `async` form. If the class does not implement that either, calls the method without an offset if the offset is
    /// 0; otherwise supplies no stream.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        session.callAsyncFormIfImplemented(.bodyStreamFromOffset, of: type(of: self), for: task) {
            await self.urlSession(session, task: task, needNewBodyStreamFrom: offset).map { BodyStream($0) }
        } completion: {
            completionHandler($0?.value)
        } ifMissing: {
            guard offset == 0 else { return completionHandler(nil) }
            self.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
    }

    /// Records that the class does not implement this form, and supplies no stream.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
    ) async -> InputStream? {
        AsyncForm.bodyStreamFromOffset.recordMissing(in: type(of: self))
        return nil
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        session.successor(of: self, for: task)?.task?
            .urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        session.successor(of: self, for: task)?.task?
            .urlSession(session, task: task, didReceiveInformationalResponse: response)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        session.successor(of: self, for: task)?.task?
            .urlSession(session, task: task, didFinishCollecting: metrics)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        session.successor(of: self, for: task)?.task?
            .urlSession(session, task: task, didCompleteWithError: error)
    }
}

extension URLSessionDataDelegate {
    /// Calls the `async` form. If the class does not implement that either, calls the method of the session's delegate; without
    /// one, allows the content.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        session.callAsyncFormIfImplemented(.response, of: type(of: self), for: dataTask) {
            await self.urlSession(session, dataTask: dataTask, didReceive: response)
        } completion: {
            completionHandler($0)
        } ifMissing: {
            guard let next = session.successor(of: self, for: dataTask)?.data else {
                return completionHandler(.allow)
            }
            next.urlSession(
                session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
        }
    }

    /// Records that the class does not implement this form, and allows the content.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        AsyncForm.response.recordMissing(in: type(of: self))
        return .allow
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        session.successor(of: self, for: dataTask)?.data?
            .urlSession(session, dataTask: dataTask, didBecome: downloadTask)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        session.successor(of: self, for: dataTask)?.data?
            .urlSession(session, dataTask: dataTask, didBecome: streamTask)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        session.successor(of: self, for: dataTask)?.data?
            .urlSession(session, dataTask: dataTask, didReceive: data)
    }

    /// Calls the `async` form. If the class does not implement that either, calls the method of the session's delegate; without
    /// one, has the unchanged response stored.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        session.callAsyncFormIfImplemented(.caching, of: type(of: self), for: dataTask) {
            await self.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        } completion: {
            completionHandler($0)
        } ifMissing: {
            guard let next = session.successor(of: self, for: dataTask)?.data else {
                return completionHandler(proposedResponse)
            }
            next.urlSession(
                session, dataTask: dataTask, willCacheResponse: proposedResponse,
                completionHandler: completionHandler)
        }
    }

    /// Records that the class does not implement this form, and has the unchanged response stored.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        AsyncForm.caching.recordMissing(in: type(of: self))
        return proposedResponse
    }
}

extension URLSessionDownloadDelegate {
    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        session.successor(of: self, for: downloadTask)?.download?
            .urlSession(
                session, downloadTask: downloadTask, didWriteData: bytesWritten,
                totalBytesWritten: totalBytesWritten, totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        session.successor(of: self, for: downloadTask)?.download?
            .urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes)
    }
}

extension URLSessionStreamDelegate {
    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        session.successor(of: self, for: streamTask)?.stream?.urlSession(session, readClosedFor: streamTask)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        session.successor(of: self, for: streamTask)?.stream?.urlSession(session, writeClosedFor: streamTask)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        session.successor(of: self, for: streamTask)?.stream?
            .urlSession(session, betterRouteDiscoveredFor: streamTask)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        session.successor(of: self, for: streamTask)?.stream?
            .urlSession(session, streamTask: streamTask, didBecome: inputStream, outputStream: outputStream)
    }
}

extension URLSessionWebSocketDelegate {
    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        session.successor(of: self, for: webSocketTask)?.webSocket?
            .urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
    }

    /// Calls the method of the session's delegate if `self` is the delegate of one task; otherwise does nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        session.successor(of: self, for: webSocketTask)?.webSocket?
            .urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
    }
}

extension URLCredential {
    /// A marker that the default implementations of the challenge methods return with `.performDefaultHandling`. It tells the
    /// session that the delegate does not implement the method, so that the session calls the next method or delegate.
    ///
    /// A program's delegate may call another delegate and return its answer; that passes the marker on unchanged. Code that does
    /// not know the marker sees only the disposition, which is the one that Apple's system uses.
    static let notImplemented = URLCredential(user: "", password: "", persistence: .none)
}
