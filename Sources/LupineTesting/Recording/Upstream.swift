// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading
internal import LupineTransport

/// How a recorder reaches the servers: each hop is a load of its own.
///
/// Header fields of the configuration, redirects, cookies, names and passwords are the session's in front. What is asked about
/// a server, whether it is trusted and who is there, is asked of that session too. Any thread.
final class Upstream: Sendable {
    /// For the origin that the program named.
    private let own: URLSession
    /// For those that redirects have led to: without the configuration's identity, unless it says where that may be shown.
    private let elsewhere: URLSession

    init(_ configuration: URLSessionConfiguration) {
        configuration.httpAdditionalHeaders = nil
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        own = URLSession(configuration: configuration)
        if configuration.lupine.tls.identityOrigins == nil { configuration.lupine.tls.identity = nil }
        elsewhere = URLSession(configuration: configuration)
    }

    deinit { for session in [own, elsewhere] { session.finishTasksAndInvalidate() } }

    /// Throws where the session in front would have servers judged by other authorities than they are here, or be somebody else
    /// to them.
    func requireEqualSecurity(_ request: URLRequest, of asker: AnsweringProtocol) throws(URLError) {
        guard request.url?.scheme?.lowercased() == "https", let task = asker.task, !task.isSecured(as: own)
        else { return }
        throw URLError(
            .secureConnectionFailed,
            stubbed: "the session's TLS options are not those of its recorder, which reaches the servers: "
                + "give them to the configuration that the recorder is made with", request.url)
    }

    /// Loads one hop; cancelled when the task is that waits for it.
    func load(_ request: URLRequest, for asker: AnsweringProtocol) async throws -> (Data, URLResponse) {
        let running = Lock<URLSessionTask?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let session = asker.task?.hasLeftOrigin ?? false ? elsewhere : own
                let task = session.dataTask(with: request) { data, response, error in
                    if let error { return continuation.resume(throwing: error) }
                    guard let response else {
                        return continuation.resume(throwing: URLError(.badServerResponse))
                    }
                    continuation.resume(returning: (data ?? Data(), response))
                }
                task.delegate = UpstreamDelegate(asker)
                if let principal = asker.task { task.load(for: principal) }
                running.withLock { $0 = task }
                if Task.isCancelled { task.cancel() }
                task.resume()
            }
        } onCancel: {
            running.withLock { $0 }?.cancel()
        }
    }
}

/// Asks the session in front, and hands redirects on as they are: each hop is an exchange.
private final class UpstreamDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let asker: AnsweringProtocol

    init(_ asker: AnsweringProtocol) { self.asker = asker }

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
        asker.ask(challenge, completionHandler)
    }
}
