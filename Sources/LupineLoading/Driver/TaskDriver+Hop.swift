// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Prepares each hop, which is one request of the load with its response. `HopPreparation` decides; the driver computes and looks
/// up what the preparation needs, and starts the hop.
extension TaskDriver {
    /// Prepares the next hop. If the calling thread is an event loop and the preparation may call the program's code (its
    /// `URLProtocol` classes, or a body stream that was sent before), another thread prepares the hop, because the loop's
    /// connections must not wait for the program (O-7). After a redirect or an answer to a challenge, the calling thread is
    /// usually the loop of the previous hop.
    func prepare() {
        guard EventLoop.current != nil,
            context.hopLoadFactory.mayCallProgram(context) || state.withLock({ $0.basis.hasSentStream })
        else { return beginPreparing() }
        // `asynchronously` makes another thread run `preparationStep`.
        handle(.canContinuePreparing, asynchronously: true) { state in
            if state.machine.isPreparing { state.preparationStep = { self.beginPreparing() } }
        }
    }

    private func beginPreparing() {
        var preparation = state.withLock { state in
            state.basis.request.makeAbsolute()
            return HopPreparation(
                state.basis, state.controls, kind: definition.kind, deadline: state.deadline,
                verifier: state.verifier, context, client)
        }
        let next = preparation.begin(definition.request)
        continuePreparing(preparation, next)
    }

    /// Does what the preparation needs next.
    private func continuePreparing(_ preparation: consuming HopPreparation, _ next: HopPreparation.Next) {
        switch next {
        case .computeHash(let hash):
            keepWaiting(preparation)
            hash.compute { [self] hashes in resumePreparing { $0.receive(hashes) } }
        case .lookUp(let cache, let requester):
            let request = preparation.request
            keepWaiting(preparation)
            cache.lookUp(request, for: requester) { [self] entry in resumePreparing { $0.receive(entry) } }
        case .deliver(let delivery, let synchronously):
            handle(.preparationEnded(.deliverCached), asynchronously: !synchronously) { state in
                if state.machine.isPreparing { state.cachedDelivery = delivery }
            }
        case .startHop: startHop(preparation)
        // The client is called on another thread.
        case .fail(let error): handle(.preparationEnded(.fail(error)), asynchronously: true)
        }
    }

    /// Stores the preparation until its input is available, unless the load has ended meanwhile.
    private func keepWaiting(_ preparation: consuming HopPreparation) {
        // If the load has ended, the preparation is not stored, and is released outside of the lock.
        var waiting: HopPreparation? = preparation
        state.withLock { state in
            if state.machine.isPreparing { swap(&state.waitingPreparation, &waiting) }
        }
    }

    /// Continues the waiting preparation with its input, unless the load has ended meanwhile.
    private func resumePreparing(
        _ receive: @escaping @Sendable (inout HopPreparation) -> HopPreparation.Next
    ) {
        handle(.canContinuePreparing) { state in
            // If the load has ended, the step is not stored, because it would never be released.
            guard state.machine.isPreparing else { return }
            state.preparationStep = {
                // Nil if the load has ended.
                guard var preparation = self.state.withLock({ $0.waitingPreparation.take() }) else { return }
                let next = receive(&preparation)
                self.continuePreparing(preparation, next)
            }
        }
    }

    /// Creates the hop's load, and ends the preparation. The machine then starts the load.
    private func startHop(_ preparation: consuming HopPreparation) {
        let verifier = verifier(for: preparation.request)
        var hop: PreparedHop
        do throws(URLError) {
            hop = try preparation.makeHop(definition, verifier, for: self)
        } catch { return handle(.preparationEnded(.fail(error)), asynchronously: true) }
        let (load, usesNetwork) = (hop.load, hop.usesNetwork)
        var controls = preparation.controls
        // The values are swapped with the state below, so that the previous hop's values are released outside of the lock.
        var response: URLResponse?
        handle(.preparationEnded(.startHop)) { state in
            // If the load has ended meanwhile, the hop is released without being started.
            guard state.machine.isPreparing else { return }
            swap(&state.hop, &hop)
            swap(&state.basis, &preparation.basis)
            swap(&state.response, &response)
            controls = state.controls
        }
        // The task may have changed the controls during the preparation. Later changes go to the hop directly, because
        // `state.hop` is set.
        controls.pass(to: load, since: preparation.controls) { state.withLock { $0.controls } }
        // Only hops over the network enforce the resource time-out themselves.
        if !usesNetwork { setAlarm() }
    }

    /// Returns the object that passes the connection's challenges to the program. Returns nil if the task has no delegate, or if
    /// the connection cannot cause a challenge.
    private func verifier(for request: URLRequest) -> TaskPeerVerifier? {
        if request.contents.value.scheme == .http, !context.engine.hasProxy { return nil }
        if let verifier = state.withLock({ $0.verifier }) { return verifier }
        guard let verifier = client.challengedTask.map({ context.engine.tlsProfiles.verifier(asking: $0) })
        else { return nil }
        let isUnneeded = state.withLock { state in
            if !state.machine.isOver { state.verifier = verifier }
            return state.machine.isOver
        }
        // If the load has ended meanwhile, nothing else ends the verifier.
        if isUnneeded { verifier.end() }
        return verifier
    }

    /// Tells the client which request is sent. It becomes the task's current request.
    func reportRequest() {
        let (request, authorization) = state.withLock { ($0.hop.visibleRequest, $0.hop.authorization) }
        client.driverWillSend(request, authorization: authorization)
    }
}

/// Receives the calls of a hop. The driver lets `ResponseEvaluation` evaluate the response, and delivers it if it is final. It
/// passes all other calls on to its client, the task.
///
/// The calls of one hop never overlap. They do not overlap the machine's steps either, which run while there is no hop or while
/// the hop waits. The driver ignores the calls of any hop but the current one.
extension TaskDriver: HopLoadClient {
    // MARK: before the response

    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void) {
        guard isActive(hop) else { return reply(nil) }
        // No connection enforces the resource time-out while the program makes the stream.
        setAlarm()
        client.driverNeedsBodyStream(reply: reply)
    }

    func hopSent(_ hop: any HopLoad, total: Int64, expected: Int64) {
        if isActive(hop) { client.driverSent(total: total, expected: expected) }
    }

    func hopReceivedInterimResponse(_ hop: any HopLoad, _ response: HTTPURLResponse) {
        if isActive(hop) { client.driverReceivedInterimResponse(response) }
    }

    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard isActive(hop) else { return reply(.cancelAuthenticationChallenge, nil) }
        // No connection enforces the resource time-out while the program answers.
        setAlarm()
        client.driverChallenged(challenge, reply: reply)
    }

    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        guard isActive(hop) else {
            connection.close()
            return InactiveHopUpgradeHandler()
        }
        return client.driverUpgraded(connection, response)
    }

    /// Whether `hop` is the current hop, and the driver passes its calls on to the client.
    private func isActive(_ hop: any HopLoad) -> Bool {
        state.withLock { $0.hop.load === hop && $0.machine.isRunning }
    }

    // MARK: the response

    func hopReceivedResponse(
        _ hop: any HopLoad, _ response: URLResponse, storagePolicy: URLCache.StoragePolicy
    )
        -> HopPlan
    {
        let status = (response as? HTTPURLResponse)?.statusCode
        guard
            var evaluation = state.withLock({ state -> ResponseEvaluation? in
                guard state.awaitsResponse(of: hop) else { return nil }
                return ResponseEvaluation(response, status, of: state.hop, state.basis)
            })
        else { return .skip }
        evaluation.evaluate(of: hop, storagePolicy, definition, context, client)
        let actions = state.withLock { state -> HopMachine.Actions in
            evaluation.apply(to: &state)
            let actions = state.machine.handle(.responseArrived(evaluation.decision))
            // Until `askDuringCall` has returned, other threads queue their actions for it.
            if case .ask? = actions.steps.first { state.turn.takeForQuestion() }
            return actions
        }
        if case .ask? = actions.steps.first { return askDuringCall(actions, hop) }
        return actions.command.result(for: hop, performSteps(of: actions) ?? .skip)
    }

    /// Asks the client inside the hop's call of `hopReceivedResponse`, and returns the result of that call. If the client answers
    /// before it returns, the hop does not have to pause.
    private func askDuringCall(_ actions: HopMachine.Actions, _ hop: any HopLoad) -> HopPlan {
        var result = HopPlan.pause
        var actions: HopMachine.Actions? = actions
        while let current = actions {
            result = current.command.result(for: hop, performSteps(of: current) ?? result)
            // The actions that follow from an answer of the client, if there was one.
            actions = state.withLock { $0.turn.next() }?.actions
        }
        return result
    }

    /// Delivers the response, and returns the client's plan for its content. If the client skips the content or directs it into a
    /// file, the content is not collected for the cache. A response that cannot be stored removes the entry that it supersedes
    /// (U-12.13).
    func deliverResponse() -> HopPlan {
        let (response, invalidatedURL) = state.withLock {
            ($0.response, $0.hop.usesNetwork ? $0.hop.cacheUse.invalidatedURL : nil)
        }
        guard let response else { return .skip }
        if let invalidatedURL { context.settings.cache?.invalidate(invalidatedURL) }
        let plan = client.driverReceivedResponse(response)
        switch plan {
        case .deliver, .pause: break
        case .skip, .splice: state.withLock { $0.hop.cacheUse.stopCollecting() }
        }
        return plan
    }

    // MARK: the content

    func hopWantsSeparateChunks(_ hop: any HopLoad) -> Bool { client.driverWantsSeparateChunks }

    func hopReceivedContent(_ hop: any HopLoad, _ data: Data) -> Demand {
        let (isWanted, invalidatedURL) = state.withLock { $0.receive(data, from: hop) }
        guard isWanted else { return .enough }
        if let invalidatedURL { context.settings.cache?.invalidate(invalidatedURL) }
        return stopCollectingIfEnough(client.driverReceivedContent(data))
    }

    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand {
        guard isActive(hop) else { return .enough }
        return stopCollectingIfEnough(client.driverSpliced(count))
    }

    /// Stops collecting content for the cache if the client wants no more of it (`.enough`). Returns `demand`.
    private func stopCollectingIfEnough(_ demand: Demand) -> Demand {
        if case .enough = demand { state.withLock { $0.hop.cacheUse.stopCollecting() } }
        return demand
    }

    // MARK: redirects of a URLProtocol, and the end

    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse) {
        let evaluationOfCurrent = state.withLock { state in
            state.awaitsResponse(of: hop) ? ResponseEvaluation(response, of: state.hop, state.basis) : nil
        }
        guard var evaluation = evaluationOfCurrent else { return }
        evaluation.evaluateRedirect(to: request)
        handle(.responseArrived(evaluation.decision)) { state in
            // The state may have changed since it was read. The machine then ignores the event too.
            if state.awaitsResponse(of: hop) { evaluation.apply(to: &state) }
        }
    }

    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics) {
        var authentication: LoadAuthentication?
        // Set if the hop has ended because a proxy has refused to open a tunnel without authentication.
        var refusal: LoadAuthentication.Outcome?
        if let urlError = error as? URLError {
            authentication = state.withLock { $0.machine.awaitsResponse ? $0.basis.authentication : nil }
            // The program may have replaced the task's credential since the hop began.
            refusal = authentication?.receive(urlError, client.driverCredential)
        }
        let actions = state.withLock { state -> HopMachine.Actions? in
            guard state.hop.load === hop else { return nil }
            if refusal != nil { swap(&state.basis.authentication, &authentication) }
            return state.endHop(
                error, metrics, refusal, mayWait: context.settings.waitsForConnectivity)
        }
        // The machine returns no command to a hop that has ended, so that no hop has to be passed.
        if let actions { performActions(actions, nil) }
    }
}

/// Ignores the bytes of a connection that was upgraded for a hop whose calls are ignored. The connection is closed.
private final class InactiveHopUpgradeHandler: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
