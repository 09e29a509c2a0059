// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The steps of the machine that a load with a plain response does not need: questions and their answers, delivery of cached
/// responses, storage in the cache, waiting for the network.
extension TaskDriver {
    // MARK: questions

    /// Asks the client the open question. The client may answer during the call or later, on any thread.
    func ask() {
        let (question, number) = state.withLock { ($0.questions.open, $0.questions.begin()) }
        // The alarm for the resource time-out: the client may take any time to answer, and the connection, which otherwise
        // enforces the time-out, may be gone by then.
        setAlarm()
        question?.ask(client) { [self] answer in applyAnswer(answer, toQuestion: number) }
    }

    /// Applies the client's answer to a question. No effect if the question was answered before or is not the last one.
    private func applyAnswer(_ answer: HopQuestion.Answer, toQuestion number: Int) {
        let (closed, basis, sentRequest) = state.withLock { state in
            (state.closeQuestion(number), state.basis, state.hop.sentRequest)
        }
        guard let question = closed else { return }
        // The program may have replaced the task's credential since the challenge arrived.
        var evaluation = AnswerEvaluation(
            answer, to: question, basis, sentRequest: sentRequest, client.driverCredential,
            context.settings.lupine)
        if let request = evaluation.followedRequest { client.driverFollowsRedirect(request) }
        // The previous hop's values are released outside of the lock: bodies and attached properties are objects of the program,
        // whose deallocation may run its code.
        var previousResponse: URLResponse?
        handle(.questionAnswered(evaluation.decision)) { state in
            swap(&state.basis, &evaluation.basis)
            swap(&state.questions.open, &evaluation.question)
            if evaluation.followedRequest != nil { swap(&state.response, &previousResponse) }
        }
    }

    // MARK: the cache

    /// Begins to deliver the cached response, or continues after a pause.
    func deliverCachedResponse() {
        guard let delivery = state.withLock({ $0.cachedDelivery }) else {
            return handle(.cachedResponseDelivered)
        }
        let progress = delivery.deliver(to: client) {
            state.withLock { $0.machine.isDeliveringCached && !$0.controls.isSuspended }
        }
        switch progress {
        case .complete: handle(.cachedResponseDelivered)
        // The resource time-out limits the pause. If the load has ended, this has no effect.
        case .incomplete: setAlarm()
        }
    }

    /// Asks the client which response to store in the cache. Stores that response before the load ends (U-12.6).
    func askWhatToStore() {
        let (cacheUse, requestTime, number) = state.withLock { state in
            (state.hop.cacheUse, state.hop.fetchStart, state.questions.begin())
        }
        guard let proposal = cacheUse.proposal else { return handle(.storageFinished) }
        client.driverWillCache(proposal) { [self] response in
            let isFirst = state.withLock { $0.questions.end(number) && !$0.machine.isOver }
            guard isFirst else { return }
            if let response { cacheUse.store(response, requestTime: requestTime, context) }
            handle(.storageFinished)
        }
        // While the driver waits for the client's answer, no connection enforces the resource time-out.
        if state.withLock({ $0.machine.isStoring }) { setAlarm() }
    }

    // MARK: the network

    /// Waits until the network changes; the machine then tries again. The network is watched from the first wait on until the
    /// load ends, and the resource time-out limits the wait.
    func waitForNetwork() {
        if state.withLock({ $0.endNetworkWatch != nil }) { return }
        client.driverWaitsForConnectivity()
        setAlarm()
        let end = context.network.begin { [weak self] in self?.handle(.networkChanged, asynchronously: true) }
        if !state.withLock({ $0.storeNetworkWatch(end) }) { end() }
    }
}
