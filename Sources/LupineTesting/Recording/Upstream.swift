// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading
internal import LupineTransport

/// The recorder's connections to the servers. Each request of a redirect chain is a separate load.
///
/// The loads use the header fields, the cookies and the credentials of the program's session. That session also follows the
/// redirects, and answers the challenges for server trust and client certificates. Can be used on any thread.
final class Upstream: Sendable {
    /// The session for the origin of the program's request.
    private let sameOrigin: URLSession
    /// The session for other origins after redirects: without the configuration's client identity, unless the configuration
    /// defines the origins for it.
    private let otherOrigins: URLSession

    /// Creates the sessions. Changes the configuration, of which the caller passes a copy.
    init(_ configuration: URLSessionConfiguration) {
        // The loads use the header fields, cookies and credentials of the program's session, and no cache.
        configuration.httpAdditionalHeaders = nil
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        sameOrigin = URLSession(configuration: configuration)
        // `sameOrigin` has copied the configuration, and is not affected.
        if configuration.lupine.tls.identityOrigins == nil { configuration.lupine.tls.identity = nil }
        otherOrigins = URLSession(configuration: configuration)
    }

    deinit { for session in [sameOrigin, otherOrigins] { session.finishTasksAndInvalidate() } }

    /// Throws when the program's session has other TLS options than the recorder's. The session would then trust other
    /// authorities than the connection to the server, or use another client identity.
    func requireEqualSecurity(_ request: URLRequest, of urlProtocol: StubURLProtocol) throws(URLError) {
        guard request.url?.scheme?.lowercased() == "https", let task = urlProtocol.task,
            !task.hasSameTLSPolicy(as: sameOrigin)
        else { return }
        throw URLError(
            .secureConnectionFailed,
            stubbed: "the session's TLS options are not those of its recorder, which reaches the servers: "
                + "give them to the configuration that the recorder is made with", request.url)
    }

    /// Loads one request, without following redirects. The load is cancelled with the calling task.
    func load(_ request: URLRequest, for urlProtocol: StubURLProtocol) async throws -> (Data, URLResponse) {
        let currentTask = Lock<URLSessionTask?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Whether a redirect has led the program's task to another origin; false without a task.
                let hasLeftOrigin = urlProtocol.task?.hasLeftOrigin ?? false
                let session = hasLeftOrigin ? otherOrigins : sameOrigin
                let task = session.dataTask(with: request) { data, response, error in
                    if let error { return continuation.resume(throwing: error) }
                    guard let response else {
                        return continuation.resume(throwing: URLError(.badServerResponse))
                    }
                    continuation.resume(returning: (data ?? Data(), response))
                }
                task.delegate = UpstreamDelegate(urlProtocol)
                // The load uses the cookies and credentials of the program's task and its session.
                if let programTask = urlProtocol.task { task.loadOnBehalf(of: programTask) }
                currentTask.withLock { $0 = task }
                // `onCancel` may have run before the task was stored.
                if Task.isCancelled { task.cancel() }
                task.resume()
            }
        } onCancel: {
            currentTask.withLock { $0 }?.cancel()
        }
    }
}

/// Passes challenges to the program's session, and does not follow redirects, because each response is an exchange.
private final class UpstreamDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let urlProtocol: StubURLProtocol

    init(_ urlProtocol: StubURLProtocol) { self.urlProtocol = urlProtocol }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        urlProtocol.forward(challenge, completionHandler)
    }
}
