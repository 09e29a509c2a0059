// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The work between transaction and client: responses, questions and their answers, delivery of cached responses, storing in
/// the cache.
extension TaskDriver {
    /// Delivers the response. Content that is not delivered as it comes is not collected for the cache either. A response that
    /// cannot be stored removes the entry that it supersedes (U-12.13).
    func respond() -> HopPlan {
        let (response, voided) = state.withLock { ($0.response, $0.isTransaction ? $0.cache.voided : nil) }
        guard let response else { return .skip }
        if let voided { context.settings.cache?.invalidate(voided) }
        let plan = client.driverReceivedResponse(response)
        switch plan {
        case .deliver, .pause: break
        case .skip, .splice: state.withLock { $0.cache.giveUp() }
        }
        return plan
    }

    // MARK: questions

    /// Asks the question that the response raises. The answer may come at once.
    func ask() {
        let (question, number) = state.withLock { state in
            state.questions += 1
            return (state.question, state.questions)
        }
        setAlarm()
        switch question {
        case .redirect(let response, let proposal)?:
            client.driverWillRedirect(response, to: proposal.request) { [self] request in
                redirected(number, to: request)
            }
        case .protocolRedirect(let response as HTTPURLResponse, let request)?:
            client.driverWillRedirect(response, to: request) { [self] request in
                redirected(number, to: request)
            }
        case .protocolRedirect(_, let request)?: redirected(number, to: request)
        case .challenge(let challenge, _)?:
            client.driverChallenged(challenge) { [self] disposition, credential in
                challenged(number, disposition, credential)
            }
        case nil: break
        }
    }

    /// Closes and returns the open question, if it has this number.
    private func takeQuestion(_ number: Int) -> (question: Question, authenticator: Authenticator?)? {
        state.withLock { state in
            guard state.questions == number, state.machine.isThinking, let question = state.question else {
                return nil
            }
            state.question = nil
            return (question, state.authenticator?.value)
        }
    }

    private func redirected(_ number: Int, to request: URLRequest?) {
        guard let (question, _) = takeQuestion(number) else { return }
        switch (question, request) {
        case (.redirect, nil): handle(.decided(.deliver))
        case (.redirect(_, let proposal), let request?): follow(request, proposal)
        case (.protocolRedirect, nil): handle(.decided(.deliverAlone))
        case (.protocolRedirect, let request?): follow(withoutAdded(request), nil)
        case (.challenge, _): break
        }
    }

    /// Removes from a redirect of a program's `URLProtocol` the fields that were added to the request that it was made from,
    /// such as cookies and answers to challenges (U-10.6, U-17.6): each transaction is given its own.
    private func withoutAdded(_ request: URLRequest) -> URLRequest {
        let (own, sent) = state.withLock { ($0.request, $0.sent) }
        var request = request
        for field in sent.headerList.fields where own.value(forHTTPHeaderField: field.name) != field.value {
            guard request.value(forHTTPHeaderField: field.name) == field.value else { continue }
            request.setValue(nil, forHTTPHeaderField: field.name)
        }
        return request
    }

    /// The next transaction sends the program's request unchanged (U-10.8).
    private func follow(_ request: URLRequest, _ proposal: RedirectRule.Proposal?) {
        let keepsBody = proposal?.keepsBody ?? true
        let isAsProposed = request.httpMethod == (proposal?.request ?? request).httpMethod
        let target = WebOrigin(request.url)
        let credential = target == WebOrigin(proposal?.request.url) ? proposal?.credential : nil
        let last = state.withLock { $0.request.url }
        if let refusal = RedirectRule.refusal(of: request.url, from: last, context.settings.lupine) {
            return handle(.decided(.fail(refusal)))
        }
        client.driverFollowsRedirect(request)
        let move = RedirectMove(from: WebOrigin(last), to: target)
        // The previous transaction's values are released outside of the lock: bodies and attached properties are the program's.
        var spent: (URLRequest, TaskDefinition.Body, URLResponse?)?
        handle(.decided(.again)) { state in
            spent = (state.request, state.body, state.response)
            state.move = max(state.move, move)
            state.distrustsStored = false
            state.request = request
            if !keepsBody || !isAsProposed { state.body = .request }
            state.redirectCredential = credential
            state.redirectCount += 1
            state.response = nil
        }
        withExtendedLifetime(spent) {}
    }

    private func challenged(
        _ number: Int, _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) {
        guard let (question, found) = takeQuestion(number), case .challenge(_, let refusal) = question,
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
        let verdict = authenticator.answered(answer)
        let (judgement, next) = Self.judgement(of: verdict, refusal)
        handle(.decided(judgement)) { [authenticator] state in
            state.authenticator = .value(authenticator)
            state.question = next
        }
    }

    // MARK: what the cache answers

    /// The maximum size of a piece that is delivered.
    private static let pieceSize = 64 << 10

    /// Delivers the cached response as if it came from the network (U-12.15).
    func answerFromCache() {
        let now = Date()
        let (response, request, authorization, _) = state.withLock { state in
            state.answersSince = now
            let before = state.response
            state.response = state.cache.answer?.response.response
            // Paused in advance, because the client may resume before it has returned `.pause`.
            state.isPaused = true
            return (state.response, state.announced, state.authorization, before)
        }
        guard let response else { return handle(.answered) }
        client.driverWillSend(request, authorization: authorization)
        switch client.driverReceivedResponse(response) {
        case .deliver, .splice: state.withLock { $0.isPaused = false }
        case .pause: break
        case .skip: return handle(.answered)
        }
        pump()
    }

    /// The next step in delivering a cached response.
    private enum Piece: Sendable {
        case data(Data)
        case wait
        case end
    }

    /// Delivers cached content, piece by piece, while the client takes it.
    func pump() {
        while true {
            switch state.withLock({ Self.piece(&$0) }) {
            case .end: return handle(.answered)
            case .wait: return setAlarm()
            case .data(let data):
                switch client.driverReceivedContent(data) {
                case .more: state.withLock { $0.isPaused = false }
                case .pause: break
                case .enough: return handle(.answered)
                }
            }
        }
    }

    private static func piece(_ state: inout State) -> Piece {
        guard state.machine.isAnswering, !state.isPaused, !state.isSuspended,
            let data = state.cache.answer?.response.data
        else { return .wait }
        let count = min(pieceSize, data.count - state.handedOn)
        if count <= 0 { return .end }
        let start = data.startIndex + state.handedOn
        state.handedOn += count
        state.isPaused = true
        return .data(count == data.count ? data : data.subdata(in: start..<start + count))
    }

    // MARK: what the cache is given

    /// Asks what is to be stored, and stores it before the load ends (U-12.6).
    func offer() {
        let (use, asked, number) = state.withLock { state in
            state.questions += 1
            return (state.cache, state.fetchStart, state.questions)
        }
        guard let proposal = use.proposal, let request = use.storesFor, let cache = context.settings.cache
        else { return handle(.stored) }
        client.driverWillCache(proposal.response) { [self] response in
            let isFirst = state.withLock { state in
                defer { state.questions += 1 }
                return state.questions == number && !state.machine.isOver
            }
            guard isFirst else { return }
            if let response {
                let entry = CacheEntry(
                    response: response, for: request, requestTime: asked, responseTime: proposal.arrival,
                    provenance: proposal.provenance, identifying: context.settings.identifyingFields,
                    writtenInfo: response.userInfo.flatMap { StorableValue($0) }, at: context.clock.date())
                cache.store(entry, for: request)
            }
            handle(.stored)
        }
        // If the answer has not come at once, only the driver enforces the time-out.
        if state.withLock({ $0.machine.isStoring }) { setAlarm() }
    }
}
