// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Receives the calls of the driver. The task passes content to its sink and questions to the delegate.
extension TaskCore: TaskDriverClient {
    /// The task object, which exists from `begin` to the end of the task; at any other time, a new object.
    var driverTask: URLSessionTask { publicTask ?? URLSessionTask(self) }
    var driverIdentifier: Int? { identifier }

    var challengedTask: (any ServerTrustChallenger)? { hasDelegate ? self : nil }

    var driverJudges: [ObjectToken] {
        let (own, session, principalJudges) = state.withLock {
            ($0.ownDelegates, $0.sessionHasDelegate ? $0.session : nil, $0.principalJudges)
        }
        if let principalJudges { return principalJudges }
        return [own, session?.core.delegates].compactMap { $0?.judge }
    }

    var driverCredential: URLCredential? { credential }

    /// Whether the task has a delegate, its sink defers callbacks, and there is no progress object, which the program may
    /// observe.
    var driverDefersCallbacks: Bool {
        state.withLock {
            $0.sink.defersCallbacks && $0.transfer.progress == nil
                && ($0.ownDelegates != nil || $0.sessionHasDelegate)
        }
    }

    /// Replaces the current request. The previous one is released outside of the lock, because its body and attached properties
    /// are objects of the program.
    func driverWillSend(_ request: URLRequest, authorization: String?) {
        var request: URLRequest? = request
        state.withLock { state in
            swap(&state.currentRequest, &request)
            state.sentAuthorization = authorization
        }
    }

    /// The current request with the answer to a challenge that was sent with it. `currentRequest` does not contain the answer.
    var sentRequest: URLRequest? {
        let (request, authorization) = state.withLock { ($0.currentRequest, $0.sentAuthorization) }
        guard var request, let authorization else { return request }
        request.setValue(authorization, forHTTPHeaderField: "Authorization")
        return request
    }

    func driverWaitsForConnectivity() {
        guard hasDelegate else { return }
        call { $0.delegates.task?.urlSession($0.session, taskIsWaitingForConnectivity: $0.task) }
    }

    func driverWillRedirect(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard hasDelegate else { return reply(request) }
        ask(ClosureQuestion.redirect(of: self, response, to: request, reply: reply))
    }

    /// Records whether a redirect leads away from the origin of the original request.
    func driverFollowsRedirect(_ next: URLRequest) {
        if WebOrigin(next.url) != WebOrigin(originalRequest?.url) { hasLeftOrigin = true }
    }

    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        ask(about: challenge) { reply($0.disposition, $0.credential) }
    }

    /// Passes a challenge to the delegates.
    private func ask(
        about challenge: URLAuthenticationChallenge, completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        guard hasDelegate, let queue else {
            // Without a delegate, the answer is that of the session's configuration.
            return completion(ChallengeAnswer(disposition: .performDefaultHandling, responder: .session))
        }
        ask(ClosureQuestion.challenge(of: self, on: queue, challenge, reply: completion))
    }

    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void) {
        guard hasDelegate else { return reply(nil) }
        ask(ClosureQuestion.bodyStream(of: self, reply: reply))
    }

    func driverSent(total: Int64, expected: Int64) {
        let hasDelegate = hasDelegate
        let (needsReport, update) = state.withLock { $0.transfer.sent(total, of: expected) }
        update?.apply()
        guard needsReport, hasDelegate else { return }
        call { context in context.task.core.state.withLock { $0.transfer.takeReport() }?.deliver(context) }
    }

    func driverReceivedInterimResponse(_ response: HTTPURLResponse) {
        guard hasDelegate else { return }
        call {
            $0.delegates.task?.urlSession(
                $0.session, task: $0.task, didReceiveInformationalResponse: response)
        }
    }

    func driverReceivedResponse(_ response: URLResponse) -> HopPlan {
        // The response may be of a class of the program, which must not be called under the lock.
        let length = response.expectedContentLength
        // Swapped, so that the previous response is released outside of the lock.
        var replacedResponse: URLResponse? = response
        let (sink, update) = state.withLock { state in
            swap(&state.response, &replacedResponse)
            // The response to HEAD has no content, whatever length it states.
            let isHead = state.currentRequest?.httpMethod == "HEAD"
            return (state.sink, state.transfer.expectContent(ofLength: isHead ? 0 : length))
        }
        update?.apply()
        return sink.receivedResponse(self, response)
    }

    var driverWantsSeparateChunks: Bool {
        let (sink, delegateOnlyCollects) = state.withLock { ($0.sink, $0.delegateOnlyCollects) }
        return sink.wantsSeparateChunks && !delegateOnlyCollects
    }

    func driverReceivedContent(_ data: Data) -> Demand {
        sinkAfterCounting(data.count).receivedContent(self, data)
    }

    func driverSpliced(_ count: Int) -> Demand {
        sinkAfterCounting(count).spliced(self, count)
    }

    /// Adds received bytes to the counts and the progress. Returns the sink, read under the same lock.
    private func sinkAfterCounting(_ bytes: Int) -> any TaskSink {
        let (sink, update) = state.withLock { ($0.sink, $0.transfer.received(bytes)) }
        update?.apply()
        return sink
    }

    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        state.withLock { $0.sink }.willCache(self, proposal, reply: reply)
    }

    /// Whether a delegate is asked which response is stored in the cache.
    var asksWhatIsStored: Bool {
        state.withLock { $0.ownDelegates != nil || $0.sessionHasDelegate && !$0.storesWithoutAsking }
    }

    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler {
        // Swapped, so that the previous response is released outside of the lock.
        var replacedResponse: URLResponse? = response
        let sink = state.withLock { state in
            swap(&state.response, &replacedResponse)
            return state.sink
        }
        return sink.upgraded(self, connection, response)
    }

    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        // Only these two errors can end the load while the delegate is being asked. The delegate's answer then has no effect
        // (U-5.10).
        if let error = error as? URLError, error.code == .timedOut || error.code == .cancelled {
            abandonOpenQuestion()
        }
        TaskEnding(of: self).loadEnded(error, metrics)
    }
}

/// Passes the challenges of the task's connections to the delegate, as it passes the challenges of servers and proxies.
extension TaskCore: ServerTrustChallenger {
    /// The task's own delegate; nil if it has none or if that is also the session's delegate.
    var ownDelegate: (any URLSessionDelegate)? {
        let (own, session) = state.withLock { ($0.ownDelegates?.session, $0.session) }
        return own === session?.core.delegates?.session ? nil : own
    }

    func defersServerTrust(ofHost host: String) -> Bool {
        state.withLock { $0.session }?.core.delegates?.defersServerTrust(ofHost: host) ?? false
    }

    func evaluate(
        _ challenge: URLAuthenticationChallenge, reply: @escaping @Sendable (ChallengeAnswer) -> Void
    ) { ask(about: challenge, completion: reply) }
}
