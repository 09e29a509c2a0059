// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

// The answers to authentication challenges.

extension SessionDelegate {
    /// Answers a challenge with the request's credential, with a stored client identity, or with the result of a trust evaluator.
    func answer(
        _ challenge: URLAuthenticationChallenge, of task: URLSessionTask, in session: URLSession,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let receivers = receivers(of: task)
        receivers.eventMonitor?.urlSession(session, task: task, didReceive: challenge)
        let space = challenge.protectionSpace
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate:
            // After a failure the server would reject the same credential again.
            guard challenge.previousFailureCount == 0 else {
                return completionHandler(.rejectProtectionSpace, nil)
            }
            guard let credential = receivers.provider?.credential(for: task, in: space) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            completionHandler(.useCredential, credential)
        case NSURLAuthenticationMethodServerTrust:
            evaluateTrust(of: space, for: task, receivers, completionHandler)
        default: completionHandler(.performDefaultHandling, nil)
        }
    }

    /// Answers a challenge about the trust of a server with the result of the host's evaluator. If there is none, leaves the
    /// answer to the loading system.
    private func evaluateTrust(
        of space: URLProtectionSpace, for task: URLSessionTask, _ receivers: CallbackReceivers,
        _ completionHandler: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = space.serverTrust, let manager = serverTrustManager else {
            return completionHandler(.performDefaultHandling, nil)
        }
        do {
            guard let evaluator = try manager.serverTrustEvaluator(forHost: space.host) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            assertNoLockIsHeld()
            // An evaluator may block, which an event loop must not do.
            assertNotOnLoop()
            try evaluator.evaluate(trust, forHost: space.host)
            completionHandler(.useCredential, URLCredential(trust: trust))
        } catch {
            let failure = error.asAFError(
                or: .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: error)))
            receivers.request?.didFailTask(task, earlyWithError: failure)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}
