// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The steps of the machine that call the client, which is the task: delivery of responses, questions and their answers, delivery
/// of cached responses, storage in the cache, waiting for the network.
extension TaskDriver {
    /// Delivers the response, and returns the client's plan for its content. If the client skips the content or directs it into a
    /// file, the content is not collected for the cache. A response that cannot be stored removes the entry that it supersedes
    /// (U-12.13).
    func deliverResponse() -> HopPlan {
        let (response, invalidatedURL) = state.withLock {
            ($0.response, $0.usesNetwork ? $0.cacheUse.invalidatedURL : nil)
        }
        guard let response else { return .skip }
        if let invalidatedURL { context.settings.cache?.invalidate(invalidatedURL) }
        let plan = client.driverReceivedResponse(response)
        switch plan {
        case .deliver, .pause: break
        case .skip, .splice: state.withLock { $0.cacheUse.stopCollecting() }
        }
        return plan
    }

    // MARK: questions

    /// Asks the client the open question. The client may answer during the call or later, on any thread.
    func ask() {
        let (question, number) = state.withLock { state in
            state.questionNumber += 1
            return (state.question, state.questionNumber)
        }
        // The alarm for the resource time-out: the client may take any time to answer, and the connection, which otherwise
        // enforces the time-out, may be gone by then.
        setAlarm()
        switch question {
        case .redirect(let response, let proposal)?:
            client.driverWillRedirect(response, to: proposal.request) { [self] request in
                applyRedirectAnswer(request, toQuestion: number)
            }
        case .protocolRedirect(let response as HTTPURLResponse, let request)?:
            client.driverWillRedirect(response, to: request) { [self] request in
                applyRedirectAnswer(request, toQuestion: number)
            }
        // The client is asked only about HTTP responses; other redirects are followed.
        case .protocolRedirect(_, let request)?: applyRedirectAnswer(request, toQuestion: number)
        case .challenge(let challenge, _)?:
            client.driverChallenged(challenge) { [self] disposition, credential in
                applyChallengeAnswer(disposition, credential, toQuestion: number)
            }
        case nil: break
        }
    }

    /// Closes and returns the open question if it has this number. Returns nil if the question was answered
    /// before or another one is open.
    private func closeQuestion(_ number: Int) -> (question: Question, authenticator: Authenticator?)? {
        state.withLock { state in
            guard state.questionNumber == number, state.machine.isAsking, let question = state.question else {
                return nil
            }
            state.question = nil
            return (question, state.authenticator?.value)
        }
    }

    /// Applies the client's answer about a redirect: the request to send next, or nil to deliver the redirect itself.
    private func applyRedirectAnswer(_ request: URLRequest?, toQuestion number: Int) {
        guard let (question, _) = closeQuestion(number) else { return }
        switch (question, request) {
        case (.redirect, nil): handle(.questionAnswered(.deliver))
        case (.redirect(_, let proposal), let request?): followRedirect(to: request, proposal: proposal)
        case (.protocolRedirect, nil): handle(.questionAnswered(.deliverWithoutContent))
        case (.protocolRedirect, let request?):
            followRedirect(to: removingAddedFields(request), proposal: nil)
        // Not reached: `applyChallengeAnswer` receives the answers to challenges.
        case (.challenge, _): break
        }
    }

    /// Removes the fields that the driver has added to the last hop's request, such as cookies and answers to challenges, from
    /// the request of a redirect (U-10.6, U-17.6). A program's `URLProtocol` makes the redirect's request from the last request,
    /// and the driver adds such fields to each hop anew.
    private func removingAddedFields(_ request: URLRequest) -> URLRequest {
        let (originalRequest, sentRequest) = state.withLock { ($0.request, $0.sentRequest) }
        var request = request
        for field in sentRequest.headerList.fields
        where originalRequest.value(forHTTPHeaderField: field.name) != field.value {
            // A field that the `URLProtocol` has changed stays.
            guard request.value(forHTTPHeaderField: field.name) == field.value else { continue }
            request.setValue(nil, forHTTPHeaderField: field.name)
        }
        return request
    }

    /// Follows a redirect: the next hop sends `request` without further changes for the redirect (U-10.8).
    ///
    /// - Parameters:
    ///   - request: The request that the client has answered with.
    ///   - proposal: The request that `RedirectRule` has proposed; nil for the redirect of a program's `URLProtocol`.
    private func followRedirect(to request: URLRequest, proposal: RedirectRule.Proposal?) {
        // Without a proposal, body and method count as kept, so that the source of the body stays the same.
        let keepsBody = proposal?.keepsBody ?? true
        // False if the client has changed the method of the proposed request.
        let keepsMethod = request.httpMethod == (proposal?.request ?? request).httpMethod
        let target = WebOrigin(request.url)
        // The credential is only for the origin of the proposed request.
        let credential = target == WebOrigin(proposal?.request.url) ? proposal?.credential : nil
        let previousURL = state.withLock { $0.request.url }
        if let refusal = RedirectRule.refusal(of: request.url, from: previousURL, context.settings.lupine) {
            return handle(.questionAnswered(.fail(refusal)))
        }
        client.driverFollowsRedirect(request)
        let move = RedirectMove(from: WebOrigin(previousURL), to: target)
        // The previous hop's values are released outside of the lock: bodies and attached properties are objects of the program,
        // whose deallocation may run its code.
        var previous: (request: URLRequest, body: TaskDefinition.Body, response: URLResponse?)?
        handle(.questionAnswered(.nextHop)) { state in
            previous = (state.request, state.body, state.response)
            state.farthestMove = max(state.farthestMove, move)
            state.ignoresCacheEntry = false
            state.request = request
            // The next hop sends the body of the new request instead of the task's file or data.
            if !keepsBody || !keepsMethod { state.body = .request }
            state.redirectCredential = credential
            state.redirectCount += 1
            state.response = nil
        }
        withExtendedLifetime(previous) {}
    }

    /// Applies the client's answer to a challenge.
    private func applyChallengeAnswer(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?,
        toQuestion number: Int
    ) {
        guard let (question, currentAuthenticator) = closeQuestion(number),
            case .challenge(_, let refusal) = question, var authenticator = currentAuthenticator
        else { return }
        let answer: Authenticator.Answer =
            switch disposition {
            case .useCredential: .use(credential)
            case .performDefaultHandling: .performDefault
            case .cancelAuthenticationChallenge: .cancel
            case .rejectProtectionSpace: .rejectSpace
            }
        // The program may have replaced the task's credential since the challenge arrived.
        authenticator.taskCredential = client.driverCredential
        let verdict = authenticator.receiveAnswer(answer)
        let (decision, nextQuestion) = Self.decision(for: verdict, refusal: refusal)
        handle(.questionAnswered(decision)) { [authenticator] state in
            state.authenticator = .value(authenticator)
            state.question = nextQuestion
        }
    }

    // MARK: delivery of a cached response

    /// The maximum number of bytes of a delivered piece: 64 KiB.
    private static let maxPieceBytes = 64 << 10

    /// Delivers the cached response as if it came from the network (U-12.15).
    func deliverCachedResponse() {
        let now = Date()
        // The ignored element, the replaced response, is released outside of the lock.
        let (response, request, authorization, _) = state.withLock { state in
            state.cachedDeliveryStart = now
            let previousResponse = state.response
            state.response = state.cacheUse.deliveredEntry?.response.response
            // Set before the client is called, because the client may resume before it has returned `.pause`.
            state.isDeliveryPaused = true
            return (state.response, state.visibleRequest, state.authorization, previousResponse)
        }
        guard let response else { return handle(.cachedResponseDelivered) }
        client.driverWillSend(request, authorization: authorization)
        switch client.driverReceivedResponse(response) {
        // Cached content cannot be spliced, so the client receives it in pieces even for `.splice`.
        case .deliver, .splice: state.withLock { $0.isDeliveryPaused = false }
        // Still paused, unless the client has resumed before it returned.
        case .pause: break
        case .skip: return handle(.cachedResponseDelivered)
        }
        deliverCachedPieces()
    }

    /// The next action in the delivery of a cached response.
    private enum DeliveryAction: Sendable {
        case deliver(Data)
        /// Wait until the client resumes.
        case wait
        /// All content has been delivered.
        case end
    }

    /// Delivers cached content piece by piece, until its end or until the client pauses.
    func deliverCachedPieces() {
        while true {
            switch state.withLock({ Self.nextDeliveryAction(&$0) }) {
            case .end: return handle(.cachedResponseDelivered)
            // The resource time-out limits the pause. If the load has ended, this has no effect.
            case .wait: return setAlarm()
            case .deliver(let data):
                switch client.driverReceivedContent(data) {
                case .more: state.withLock { $0.isDeliveryPaused = false }
                // Still paused, unless the client has resumed before it returned.
                case .pause: break
                case .enough: return handle(.cachedResponseDelivered)
                }
            }
        }
    }

    /// Returns the next action. If it delivers a piece, advances the position and marks the delivery as paused, because the
    /// client may resume before it has returned `.pause`.
    private static func nextDeliveryAction(_ state: inout State) -> DeliveryAction {
        guard state.machine.isDeliveringCached, !state.isDeliveryPaused, !state.isSuspended,
            let data = state.cacheUse.deliveredEntry?.response.data
        else { return .wait }
        let count = min(maxPieceBytes, data.count - state.deliveredCachedBytes)
        if count <= 0 { return .end }
        let start = data.startIndex + state.deliveredCachedBytes
        state.deliveredCachedBytes += count
        state.isDeliveryPaused = true
        return .deliver(count == data.count ? data : data.subdata(in: start..<start + count))
    }

    // MARK: storage in the cache

    /// Asks the client which response to store in the cache. Stores that response before the load ends (U-12.6).
    func askWhatToStore() {
        let (cacheUse, requestTime, number) = state.withLock { state in
            state.questionNumber += 1
            return (state.cacheUse, state.fetchStart, state.questionNumber)
        }
        guard let proposal = cacheUse.proposal, let request = cacheUse.storageRequest,
            let cache = context.settings.cache
        else { return handle(.storageFinished) }
        client.driverWillCache(proposal.response) { [self] response in
            let isFirst = state.withLock { state in
                // The new number makes a second answer stale.
                defer { state.questionNumber += 1 }
                return state.questionNumber == number && !state.machine.isOver
            }
            guard isFirst else { return }
            if let response {
                // `identifying` names the fields of the request that tell users apart. `writtenInfo` is nil if the `userInfo`
                // cannot be written to disk.
                let entry = CacheEntry(
                    response: response, for: request, requestTime: requestTime,
                    responseTime: proposal.arrival,
                    provenance: proposal.provenance, identifying: context.settings.identifyingFields,
                    writtenInfo: response.userInfo.flatMap { StorableValue($0) }, at: context.clock.date())
                cache.store(entry, for: request, key: cacheUse.storageKey)
            }
            handle(.storageFinished)
        }
        // While the driver waits for the client's answer, no connection enforces the resource time-out.
        if state.withLock({ $0.machine.isStoring }) { setAlarm() }
    }

    // MARK: the network

    /// Watches the network: the load continues when it changes. The resource time-out limits the wait.
    func waitForNetwork() {
        let (isFirst, hasWatch, hasChanged) = state.withLock { state in
            // The values are returned as they were before this change.
            defer {
                state.hasReportedOffline = true
                state.networkHasChanged = false
            }
            return (!state.hasReportedOffline, state.endNetworkWatch != nil, state.networkHasChanged)
        }
        if isFirst { client.driverWaitsForConnectivity() }
        setAlarm()
        if hasWatch {
            // The network has changed during the last attempt: try again at once.
            if hasChanged { handle(.networkChanged) }
            return
        }
        // `begin` returns the closure that ends the watch.
        let end = context.network.begin { [weak self] in
            self?.handle(.networkChanged, asynchronously: true) { state in
                // If an attempt is running, `waitForNetwork` reads this after it.
                if !state.machine.isOffline { state.networkHasChanged = true }
            }
        }
        let isUnneeded = state.withLock { state in
            if state.machine.isOver { return true }
            state.endNetworkWatch = end
            return false
        }
        if isUnneeded { end() }
    }
}
