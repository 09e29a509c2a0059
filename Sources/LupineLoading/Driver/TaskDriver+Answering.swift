// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The steps that call the client: responses, questions and their answers, delivery of cached responses, storage in the cache.
extension TaskDriver {
    /// Delivers the response, and returns the client's plan for its content. Content that the client skips or splices is not
    /// collected for the cache. A response that cannot be stored removes the entry that it supersedes (U-12.13).
    func deliverResponse() -> HopPlan {
        let (response, invalidatedURL) = state.withLock {
            ($0.response, $0.usesNetwork ? $0.cache.invalidatedURL : nil)
        }
        guard let response else { return .skip }
        if let invalidatedURL { context.settings.cache?.invalidate(invalidatedURL) }
        let plan = client.driverReceivedResponse(response)
        switch plan {
        case .deliver, .pause: break
        case .skip, .splice: state.withLock { $0.cache.stopCollecting() }
        }
        return plan
    }

    // MARK: questions

    /// Asks the client the open question. The client may answer before it returns.
    func ask() {
        let (question, number) = state.withLock { state in
            state.questionNumber += 1
            return (state.question, state.questionNumber)
        }
        setAlarm()
        switch question {
        case .redirect(let response, let proposal)?:
            client.driverWillRedirect(response, to: proposal.request) { [self] request in
                answeredRedirect(number, to: request)
            }
        case .protocolRedirect(let response as HTTPURLResponse, let request)?:
            client.driverWillRedirect(response, to: request) { [self] request in
                answeredRedirect(number, to: request)
            }
        case .protocolRedirect(_, let request)?: answeredRedirect(number, to: request)
        case .challenge(let challenge, _)?:
            client.driverChallenged(challenge) { [self] disposition, credential in
                answeredChallenge(number, disposition, credential)
            }
        case nil: break
        }
    }

    /// Closes and returns the open question if it has this number; otherwise returns nil.
    private func closeQuestion(_ number: Int) -> (question: Question, authenticator: Authenticator?)? {
        state.withLock { state in
            guard state.questionNumber == number, state.machine.isAsking, let question = state.question else {
                return nil
            }
            state.question = nil
            return (question, state.authenticator?.value)
        }
    }

    /// Handles the client's answer about a redirect: the request to follow, or nil to deliver the redirect itself.
    private func answeredRedirect(_ number: Int, to request: URLRequest?) {
        guard let (question, _) = closeQuestion(number) else { return }
        switch (question, request) {
        case (.redirect, nil): handle(.questionAnswered(.deliver))
        case (.redirect(_, let proposal), let request?): follow(request, proposal)
        case (.protocolRedirect, nil): handle(.questionAnswered(.deliverWithoutContent))
        case (.protocolRedirect, let request?): follow(removingAddedFields(request), nil)
        case (.challenge, _): break
        }
    }

    /// Removes the fields that the driver has added to the last hop's request, such as cookies and answers to challenges, from
    /// the request of a redirect (U-10.6, U-17.6). A program's `URLProtocol` makes that request from the last one, and each hop
    /// gets such fields of its own.
    private func removingAddedFields(_ request: URLRequest) -> URLRequest {
        let (original, sent) = state.withLock { ($0.request, $0.sent) }
        var request = request
        for field in sent.headerList.fields
        where original.value(forHTTPHeaderField: field.name) != field.value {
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
    private func follow(_ request: URLRequest, _ proposal: RedirectRule.Proposal?) {
        let keepsBody = proposal?.keepsBody ?? true
        let keepsMethod = request.httpMethod == (proposal?.request ?? request).httpMethod
        let target = WebOrigin(request.url)
        let credential = target == WebOrigin(proposal?.request.url) ? proposal?.credential : nil
        let last = state.withLock { $0.request.url }
        if let refusal = RedirectRule.refusal(of: request.url, from: last, context.settings.lupine) {
            return handle(.questionAnswered(.fail(refusal)))
        }
        client.driverFollowsRedirect(request)
        let move = RedirectMove(from: WebOrigin(last), to: target)
        // The previous hop's values are released outside of the lock: bodies and attached properties are the program's.
        var previous: (URLRequest, TaskDefinition.Body, URLResponse?)?
        handle(.questionAnswered(.nextHop)) { state in
            previous = (state.request, state.body, state.response)
            state.move = max(state.move, move)
            state.ignoresCacheEntry = false
            state.request = request
            // The task's file or data is no longer uploaded, but only the body of the new request.
            if !keepsBody || !keepsMethod { state.body = .request }
            state.redirectCredential = credential
            state.redirectCount += 1
            state.response = nil
        }
        withExtendedLifetime(previous) {}
    }

    /// Handles the client's answer to a challenge.
    private func answeredChallenge(
        _ number: Int, _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) {
        guard let (question, found) = closeQuestion(number), case .challenge(_, let refusal) = question,
            var authenticator = found
        else { return }
        let answer: Authenticator.Answer =
            switch disposition {
            case .useCredential: .use(credential)
            case .performDefaultHandling: .performDefault
            case .cancelAuthenticationChallenge: .cancel
            case .rejectProtectionSpace: .rejectSpace
            }
        authenticator.taskCredential = client.driverCredential
        let verdict = authenticator.receiveAnswer(answer)
        let (decision, next) = Self.decision(for: verdict, refusal)
        handle(.questionAnswered(decision)) { [authenticator] state in
            state.authenticator = .value(authenticator)
            state.question = next
        }
    }

    // MARK: delivery of a cached response

    /// The maximum size of a delivered piece.
    private static let pieceSize = 64 << 10

    /// Delivers the cached response as if it came from the network (U-12.15).
    func deliverCachedResponse() {
        let now = Date()
        // The last element is released outside of the lock.
        let (response, request, authorization, _) = state.withLock { state in
            state.cachedDeliveryStart = now
            let previousResponse = state.response
            state.response = state.cache.deliveredEntry?.response.response
            // Set before the client is called, because the client may resume before it has returned `.pause`.
            state.isPaused = true
            return (state.response, state.visibleRequest, state.authorization, previousResponse)
        }
        guard let response else { return handle(.cachedResponseDelivered) }
        client.driverWillSend(request, authorization: authorization)
        switch client.driverReceivedResponse(response) {
        case .deliver, .splice: state.withLock { $0.isPaused = false }
        case .pause: break
        case .skip: return handle(.cachedResponseDelivered)
        }
        deliverCachedPieces()
    }

    /// The next action in the delivery of a cached response.
    private enum Piece: Sendable {
        case data(Data)
        case wait
        case end
    }

    /// Delivers cached content piece by piece, until its end or until the client pauses.
    func deliverCachedPieces() {
        while true {
            switch state.withLock({ Self.nextPiece(&$0) }) {
            case .end: return handle(.cachedResponseDelivered)
            case .wait: return setAlarm()
            case .data(let data):
                switch client.driverReceivedContent(data) {
                case .more: state.withLock { $0.isPaused = false }
                case .pause: break
                case .enough: return handle(.cachedResponseDelivered)
                }
            }
        }
    }

    /// Returns the next piece and advances the position; the delivery counts as paused until the client has returned its demand.
    private static func nextPiece(_ state: inout State) -> Piece {
        guard state.machine.isDeliveringCached, !state.isPaused, !state.isSuspended,
            let data = state.cache.deliveredEntry?.response.data
        else { return .wait }
        let count = min(pieceSize, data.count - state.deliveredCachedBytes)
        if count <= 0 { return .end }
        let start = data.startIndex + state.deliveredCachedBytes
        state.deliveredCachedBytes += count
        state.isPaused = true
        return .data(count == data.count ? data : data.subdata(in: start..<start + count))
    }

    // MARK: storage in the cache

    /// Asks the client what to store, and stores it before the load ends (U-12.6).
    func askWhatToStore() {
        let (use, requestTime, number) = state.withLock { state in
            state.questionNumber += 1
            return (state.cache, state.fetchStart, state.questionNumber)
        }
        guard let proposal = use.proposal, let request = use.storageRequest,
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
                let entry = CacheEntry(
                    response: response, for: request, requestTime: requestTime,
                    responseTime: proposal.arrival,
                    provenance: proposal.provenance, identifying: context.settings.identifyingFields,
                    writtenInfo: response.userInfo.flatMap { StorableValue($0) }, at: context.clock.date())
                cache.store(entry, for: request)
            }
            handle(.storageFinished)
        }
        // While the client's answer is awaited, no connection enforces the resource time-out.
        if state.withLock({ $0.machine.isStoring }) { setAlarm() }
    }
}
