// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

// The answers to the callbacks of `SessionDelegate` about redirects, responses, cached responses and body streams. A request's
// handler takes precedence over the session's.

extension SessionDelegate {
    /// Asks the redirect handler whether to follow a redirect; without a handler, the redirect is followed.
    func redirect(
        _ task: URLSessionTask, by response: HTTPURLResponse, to request: URLRequest, in session: URLSession,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let receivers = receivers(of: task)
        receivers.eventMonitor?.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        guard let handler = receivers.request?.redirectHandler ?? receivers.provider?.redirectHandler else {
            return completionHandler(request)
        }
        assertNoLockIsHeld()
        handler.task(task, willBeRedirectedTo: request, for: response, completion: completionHandler)
    }

    /// Asks the request whether the content of a response is to be received.
    func chooseDisposition(
        of response: URLResponse, for dataTask: URLSessionDataTask, in session: URLSession,
        _ completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let receivers = receivers(of: dataTask)
        receivers.eventMonitor?.urlSession(session, dataTask: dataTask, didReceive: response)
        guard let response = response as? HTTPURLResponse else { return completionHandler(.allow) }
        switch receivers.request {
        case let request as DataRequest:
            request.didReceive(
                response, of: dataTask, upTo: session.collectedBodyLimit, completion: completionHandler)
        case let request as DataStreamRequest: request.didReceive(response, completion: completionHandler)
        default: completionHandler(.allow)
        }
    }

    /// Asks the cached response handler what to store; without a handler, the proposed response is stored.
    func cache(
        _ proposedResponse: CachedURLResponse, of dataTask: URLSessionDataTask, in session: URLSession,
        _ completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let receivers = receivers(of: dataTask)
        receivers.eventMonitor?.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        let handler = receivers.request?.cachedResponseHandler ?? receivers.provider?.cachedResponseHandler
        guard let handler else { return completionHandler(proposedResponse) }
        assertNoLockIsHeld()
        handler.dataTask(dataTask, willCacheResponse: proposedResponse, completion: completionHandler)
    }

    /// Returns the stream of an upload; nil for other requests.
    func bodyStream(of task: URLSessionTask, in session: URLSession) -> InputStream? {
        let receivers = receivers(of: task)
        receivers.eventMonitor?.urlSession(session, taskNeedsNewBodyStream: task)
        return (receivers.request as? UploadRequest)?.inputStream()
    }
}
