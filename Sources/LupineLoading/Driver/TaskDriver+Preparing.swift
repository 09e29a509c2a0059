// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// Prepares the next hop, which is one request of the load with its response. The preparation completes the request, looks for a
/// cached response, and creates the `HopLoad`. Each step of it calls the next one. It ends with the event `preparationEnded`.
extension TaskDriver {
    /// The members of the driver's state that the preparation of a hop reads. They are copied once, when the preparation begins.
    private struct Inputs: Sendable {
        var request: URLRequest
        var body: TaskDefinition.Body
        var farthestMove: RedirectMove
        /// The user and password in the URL of the last redirect.
        var redirectCredential: URLCredential?
        var sentStreams: Set<ObjectIdentifier>
        var deadline: Instant?
        var priority: Float
        var preferredLoop: EventLoop?
        var isSuspended: Bool
        var ignoresCacheEntry: Bool
        var authenticator: Boxed<Authenticator>?
        /// The judge of the server of the hop's connection; nil if nothing depends on it.
        var judge: TrustJudge?
    }

    /// Prepares the next hop. If the calling thread is an event loop and the preparation may call the program's code, another
    /// thread prepares the hop, because the loop's connections must not wait for the program (O-7). After a redirect or an answer
    /// to a challenge, the calling thread is usually the loop of the previous hop.
    func prepare() {
        guard EventLoop.current != nil, mayCallProgram else { return beginPreparing() }
        // `asynchronously` makes another thread run `preparationStep`.
        handle(.canContinuePreparing, asynchronously: true) { state in
            if state.machine.isPreparing { state.preparationStep = { self.beginPreparing() } }
        }
    }

    /// Whether the preparation may call the program's code: its `URLProtocol` classes, or a body stream that was sent before.
    private var mayCallProgram: Bool {
        context.hopLoadFactory.mayCallProgram(context) || state.withLock { !$0.sentStreams.isEmpty }
    }

    /// Reads the inputs and assembles the request. Continues with `prepareAuthentication`.
    private func beginPreparing() {
        var inputs = state.withLock { state in
            state.request.makeAbsolute()
            return Inputs(
                request: state.request, body: state.body, farthestMove: state.farthestMove,
                redirectCredential: state.redirectCredential, sentStreams: state.sentStreams,
                deadline: state.deadline, priority: state.priority, preferredLoop: state.preferredLoop,
                isSuspended: state.isSuspended, ignoresCacheEntry: state.ignoresCacheEntry,
                authenticator: state.authenticator)
        }
        if let deadline = inputs.deadline, deadline <= context.clock.now() { return fail(timeoutError) }
        if let reason = Self.reasonStreamCannotBeSent(inputs) {
            return fail(.loading(.requestBodyStreamExhausted, url: inputs.request.url, reason: reason))
        }
        // The judge is determined only here. If the delegate were released before the response arrives, a later look-up would
        // return another judge, and the response's cookies would be stored under that judge.
        if dependsOnJudge(inputs.request) { inputs.judge = judge }
        let assembly = HopAssembly(
            request: inputs.request, kind: definition.kind, body: inputs.body, move: inputs.farthestMove,
            settings: context.settings, judge: inputs.judge)
        do throws(URLError) {
            prepareAuthentication(try assembly.assembled(), inputs)
        } catch { fail(error) }
    }

    /// Whether the request depends on the judge, which decides whether the server is trusted. Responses that came over TLS, and
    /// cookies from servers that passed no check, are stored separately for each judge. These cookies may also be sent without
    /// TLS.
    private func dependsOnJudge(_ request: URLRequest) -> Bool {
        switch request.contents.value.scheme {
        case .https, .wss: true
        case .http, .ws: context.settings.cookieStorage?.hasUncheckedCookies ?? false
        default: false
        }
    }

    /// Continues the preparation with `step`, unless the load has ended meanwhile.
    private func continuePreparing(with step: @escaping @Sendable () -> Void) {
        handle(.canContinuePreparing) { state in
            // If the load has ended, the step is not stored, because it would never be released.
            if state.machine.isPreparing { state.preparationStep = step }
        }
    }

    /// Ends the preparation, and the load, with `error`. The client is called on another thread.
    private func fail(_ error: URLError) { handle(.preparationEnded(.fail(error)), asynchronously: true) }

    /// Returns the reason if the request's body stream cannot be sent because it has been read before (U-10.7); otherwise nil.
    private static func reasonStreamCannotBeSent(_ inputs: Inputs) -> String? {
        guard case .request = inputs.body, case .stream(let stream) = inputs.request.contents.value.body,
            inputs.sentStreams.contains(ObjectIdentifier(stream.value)), stream.value.streamStatus != .notOpen
        else { return nil }
        return "the body stream was sent already"
    }

    // MARK: answers to challenges

    /// Finds the answers to challenges of the server and the proxy that are known before the request is sent. Hashes the body if
    /// a Digest answer needs its hash. Continues with `addAuthentication`.
    private func prepareAuthentication(_ request: URLRequest, _ inputs: Inputs) {
        guard let url = Self.url(of: request, with: inputs.redirectCredential) else {
            return fail(.loading(.unsupportedURL, url: nil, reason: "the request has no URL"))
        }
        let proxy = context.engine.authenticationProxy(for: url, isWebSocket: definition.kind == .webSocket)
        // No answer is known: no challenge of this load, no proxy, and no accepted answer in the session's memory.
        if inputs.authenticator == nil, proxy == nil, context.authentication.isEmpty {
            // The empty dictionary means that no hash of the body is needed.
            return addAuthentication(request, [:], inputs)
        }
        var authenticator = inputs.authenticator?.value ?? newAuthenticator
        // The program may have replaced the task's credential since the last hop.
        authenticator.taskCredential = client.driverCredential
        authenticator.begin(AuthenticationMessage(request, body: inputs.body, url: url, proxy: proxy))
        var inputs = inputs
        inputs.authenticator = .value(authenticator)
        // Nil if no answer needs a hash of the body.
        guard let hash = authenticator.contentHash else { return addAuthentication(request, [:], inputs) }
        hash.compute { [self, inputs] hashes in
            continuePreparing { self.addAuthentication(request, hashes, inputs) }
        }
    }

    /// A new authenticator for this load. `identifiesUser` is true if the session adds `Authorization` to each request.
    private var newAuthenticator: Authenticator {
        Authenticator(
            memory: context.authentication, storage: context.settings.credentialStorage,
            request: definition.request,
            identifiesUser: context.settings.additionalHeaders["Authorization"] != nil)
    }

    /// Returns the authenticator for a challenge in the response: the one of the request, or a new one if the request was sent
    /// without an answer. Returns nil if the request has no URL.
    func authenticator(for state: State) -> Authenticator? {
        if let authenticator = state.authenticator { return authenticator.value }
        guard let url = Self.url(of: state.visibleRequest, with: state.redirectCredential) else { return nil }
        var authenticator = newAuthenticator
        // The request used no proxy: for a proxy, `prepareAuthentication` creates an authenticator before the request is sent.
        authenticator.recordUnanswered(
            AuthenticationMessage(state.visibleRequest, body: state.body, url: url, proxy: nil))
        return authenticator
    }

    /// Returns the request's URL with the user and password of `credential`, which the target of a redirect contained.
    private static func url(of request: URLRequest, with credential: URLCredential?) -> URL? {
        guard let url = request.url, let credential,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return request.url }
        (components.user, components.password) = (credential.user, credential.password)
        return components.url ?? url
    }

    // MARK: the cache

    /// Adds the value of `Authorization` to the request if an answer is known. Continues with `lookUpInCache`.
    private func addAuthentication(
        _ request: URLRequest, _ hashes: [MessageDigest: [UInt8]], _ inputs: Inputs
    ) {
        guard var authenticator = inputs.authenticator?.value else {
            return lookUpInCache(PreparedRequest(request, AuthenticationFields()), inputs)
        }
        // Computing an answer changes the authenticator, which records what was sent. It is therefore stored again.
        let fields = authenticator.fields(hashes)
        var inputs = inputs
        inputs.authenticator = .value(authenticator)
        var prepared = PreparedRequest(request, fields)
        if let value = fields.authorization { prepared.sentRequest.headerList.set("Authorization", value) }
        lookUpInCache(prepared, inputs)
    }

    /// Looks up the request in the cache if the load may use the cache. Continues with `applyCacheDecision`, or with `makeHop` if
    /// the cache is not used.
    private func lookUpInCache(_ prepared: PreparedRequest, _ inputs: Inputs) {
        let request = prepared.sentRequest
        switch (definition.kind, request.contents.value.scheme) {
        case (.webSocket, _), (_, .file), (_, .data): return makeHop(prepared, inputs, CacheUse())
        case (.data, _), (.upload, _), (.download, _): break
        }
        // The policy for a request that sets none.
        let policy = context.settings.requestCachePolicy
        if bypassesCaches(request) { return makeHop(prepared, inputs, CacheUse()) }
        let requester = cacheRequester(for: request, inputs)
        // Without a look-up, `mayHaveEntry` is true, because nothing has shown that there is no entry.
        guard let cache = context.settings.cache, let requester, !inputs.ignoresCacheEntry,
            CacheDecision.needsEntry(for: request, configuration: policy),
            let key = URLCache.defaultKey(of: request)
        else { return applyCacheDecision(prepared, inputs, nil, requester, key: nil, mayHaveEntry: true) }
        switch cache.lookUpInMemory(key, request, for: requester) {
        case .complete(let entry):
            applyCacheDecision(
                prepared, inputs, entry, isInMemory: true, requester, key: key, mayHaveEntry: entry != nil)
        case .onDisk:
            cache.lookUp(request, for: requester) { [self, inputs] entry in
                continuePreparing {
                    self.applyCacheDecision(
                        prepared, inputs, entry, requester, key: key, mayHaveEntry: entry != nil)
                }
            }
        }
    }

    /// Returns the requester on whose behalf the cache is searched: only responses that were stored for the same requester may
    /// answer the request. A requester is identified by the trust policy, client certificate and proxy of the connection that the
    /// request would use. Returns nil if the cache is not used.
    private func cacheRequester(for request: URLRequest, _ inputs: Inputs) -> CacheRequester? {
        let isPlaintext = request.contents.value.scheme == .http
        guard request.httpMethod == "GET", let url = request.url,
            let sessionRequester = isPlaintext ? context.plainCacheRequester : context.secureCacheRequester
        else { return nil }
        let fields = sessionRequester.identifyingFields
        if isPlaintext {
            let proxyCredential = inputs.authenticator?.value.proxyCredential
            // Nil for a direct connection, for which the session's requester is complete.
            guard let route = context.engine.cacheRoute(to: url, as: proxyCredential) else {
                return sessionRequester
            }
            return CacheRequester(
                policy: sessionRequester.policy, client: sessionRequester.client, route: route,
                identifyingFields: fields)
        }
        let judge = inputs.judge ?? judge
        let mayIdentify = context.settings.mayIdentify(to: url, after: inputs.farthestMove)
        // The fingerprint of the client certificate; nil if no certificate may be presented.
        let client = mayIdentify ? chosenClientFingerprint(at: url) ?? sessionRequester.client : nil
        // Without objects, no delegate decides: the session's own policy applies.
        if judge.objects.isEmpty, client == sessionRequester.client { return sessionRequester }
        return CacheRequester(
            policy: judge.objects.isEmpty ? sessionRequester.policy : .judge(judge), client: client,
            identifyingFields: fields)
    }

    /// The judge of the task: its delegates, its evaluator and its trust roots, which decide whether a server is trusted.
    var judge: TrustJudge {
        TrustJudge(
            objects: client.driverJudges, evaluator: context.engine.evaluator, roots: context.rootsName)
    }

    /// Returns the fingerprint of the client certificate with which the task has answered a challenge of the URL's origin; nil if
    /// there was no such answer. The task's later connections to that origin present the same certificate.
    private func chosenClientFingerprint(at url: URL) -> SHA256Digest? {
        guard let verifier = state.withLock({ $0.verifier }), let host = url.hostName,
            case .identity(let identity)? = verifier.identityChoice(
                host: HostName.canonical(host), port: UInt16(clamping: url.port ?? 443))
        else { return nil }
        return identity.certificate.fingerprint
    }

    /// Whether the request concerns no cache: the session has none, and the request has no fields for caches on the way to the
    /// server. For speed, only requests with exactly the session's own fields are recognised, as most requests are.
    private func bypassesCaches(_ request: URLRequest) -> Bool {
        let settings = context.settings
        guard settings.cache == nil, !settings.additionalHeadersAffectCaching,
            request.headerList.fields == settings.additionalHeaders.fields
        else { return false }
        switch settings.cachePolicy(for: request) {
        // Without a cache, these policies change nothing. For the others, `CacheDecision` decides.
        case .useProtocolCachePolicy, .reloadIgnoringLocalCacheData: return true
        default: return false
        }
    }

    /// A request in two forms: as the program sees it, and as it will be sent.
    private struct PreparedRequest: Sendable {
        /// The request without answers to challenges and conditional fields of the cache.
        let visibleRequest: URLRequest
        /// The request with all fields that the preparation has added until now.
        var sentRequest: URLRequest
        let authenticationFields: AuthenticationFields

        init(_ request: URLRequest, _ fields: AuthenticationFields) {
            (visibleRequest, sentRequest, authenticationFields) = (request, request, fields)
        }

        /// Returns a copy with the fields set in `sentRequest`.
        func settingFields(_ fields: [HeaderList.Field]) -> PreparedRequest {
            var prepared = self
            for field in fields { prepared.sentRequest.headerList.set(field.name, field.value) }
            return prepared
        }
    }

    /// Ends the preparation as the `CacheDecision` for the request says: delivers the entry, creates a hop, or fails the load.
    ///
    /// - Parameters:
    ///   - prepared: The request with its answers to challenges.
    ///   - inputs: The inputs of the preparation.
    ///   - entry: The entry that the cache has for the request, if any.
    ///   - isInMemory: Whether the entry was found in memory, so that the look-up did not change the thread.
    ///   - requester: The cache requester; nil if the cache is not used.
    ///   - key: The `URLCache.defaultKey` of the request, if it was looked up.
    ///   - mayHaveEntry: Whether the cache may have an entry for the request: false only if a look-up found none.
    private func applyCacheDecision(
        _ prepared: PreparedRequest, _ inputs: Inputs, _ entry: CacheEntry?, isInMemory: Bool = false,
        _ requester: CacheRequester?, key: CacheKey?, mayHaveEntry: Bool
    ) {
        // The policy for a request that sets none.
        let policy = context.settings.requestCachePolicy
        let storageRequest = mayStore ? prepared.sentRequest : nil
        switch CacheDecision(
            for: prepared.sentRequest, configuration: policy, entry: entry, at: context.clock.date())
        {
        case .use(let entry):
            // Swapped below, so that the previous values are released outside of the lock. Nothing is sent, so the visible
            // request also takes the place of `sentRequest`, which is that of an earlier hop.
            var (sentRequest, visibleRequest, cacheUse) = (
                prepared.visibleRequest, prepared.visibleRequest, CacheUse(deliveredEntry: entry)
            )
            let authorization = prepared.authenticationFields.authorization
            // The entry is delivered on the caller's stack only if this calls no code of the program. An event loop never
            // delivers it, because other connections would wait. The delivery reads the response's length, which runs the
            // program's code if the response is of a class of the program.
            let isSynchronous =
                isInMemory && EventLoop.current == nil && entry.response.response.isLibraryClass
                && client.driverDefersCallbacks
            handle(.preparationEnded(.deliverCached), asynchronously: !isSynchronous) { state in
                guard state.machine.isPreparing else { return }
                swap(&state.sentRequest, &sentRequest)
                swap(&state.visibleRequest, &visibleRequest)
                swap(&state.cacheUse, &cacheUse)
                state.authorization = authorization
            }
        case .fail:
            let address = prepared.sentRequest.url?.withoutUserInfo.absoluteString ?? ""
            fail(
                .loading(
                    .resourceUnavailable, url: prepared.sentRequest.url,
                    reason:
                        "the cache has no answer for \(address), and the request's cachePolicy is not to load it"
                ))
        case .revalidate(let entry, let conditionalFields):
            makeHop(
                prepared.settingFields(conditionalFields), inputs,
                CacheUse(
                    storageRequest: storageRequest, supersededURL: prepared.sentRequest.url,
                    revalidatedEntry: entry, requester: requester, storageKey: key))
        // The added fields, if any, tell the caches on the way to ask the origin.
        case .load(let addedFields):
            // A request without a key cannot be stored.
            let isStorable = storageRequest != nil && CacheRule.hasKey(prepared.sentRequest)
            makeHop(
                addedFields.isEmpty ? prepared : prepared.settingFields(addedFields), inputs,
                CacheUse(
                    storageRequest: storageRequest,
                    supersededURL: isStorable && mayHaveEntry ? storageRequest?.url : nil,
                    requester: requester, storageKey: key))
        // The program does its own caching.
        case .bypass:
            makeHop(prepared, inputs, CacheUse())
        }
    }

    /// Whether responses of this task may be stored (U-12.4).
    private var mayStore: Bool {
        context.settings.cache != nil && (definition.kind == .data || definition.kind == .upload)
    }

    // MARK: the hop

    /// Creates the hop's load, and ends the preparation. The machine then starts the load.
    private func makeHop(_ prepared: PreparedRequest, _ inputs: Inputs, _ cacheUse: CacheUse) {
        var sentRequest = prepared.sentRequest
        definition.addHandshakeFields?(&sentRequest)
        let transfer = context.engine.reporter == nil ? nil : newTransfer
        let authorization = prepared.authenticationFields.authorization
        let request = hopRequest(sentRequest, prepared.authenticationFields, inputs, transfer)
        let hasSentAnswer =
            authorization != nil || request.proxyAuthorization != nil || request.tunnelAuthorizer != nil
        guard let newHop = context.hopLoadFactory.make(request, context, client, self) else {
            let scheme = sentRequest.url?.scheme ?? ""
            return fail(
                .loading(
                    .unsupportedURL, url: sentRequest.url,
                    reason:
                        "the scheme \"\(scheme)\" is not supported: http, https, file and data are, and what the "
                        + "session's protocolClasses take"))
        }
        var sentStream: ObjectIdentifier?
        if case .stream(let stream) = sentRequest.contents.value.body {
            sentStream = ObjectIdentifier(stream.value)
        }
        // Only transfers over the network are reported to observers.
        if let transfer, newHop.load is NetworkLoad { recordTransfer(transfer) }
        if inputs.isSuspended { newHop.load.setSuspended(true) }
        let now = context.clock.date()
        var priority = inputs.priority
        // These variables are swapped with the state below, so that the previous hop's values are released outside of the lock.
        var (visibleRequest, cacheUse, response): (URLRequest, CacheUse, URLResponse?) = (
            prepared.visibleRequest, cacheUse, nil
        )
        handle(.preparationEnded(.startHop)) { state in
            // If the load has ended meanwhile, the hop is released without being started.
            guard state.machine.isPreparing else { return }
            state.hop = newHop.load
            state.usesNetwork = newHop.usesNetwork
            swap(&state.sentRequest, &sentRequest)
            swap(&state.visibleRequest, &visibleRequest)
            state.hasSentAnswer = hasSentAnswer
            state.authorization = authorization
            swap(&state.cacheUse, &cacheUse)
            state.authenticator = inputs.authenticator
            state.judge = inputs.judge
            swap(&state.response, &response)
            state.fetchStart = now
            if let sentStream { state.sentStreams.insert(sentStream) }
            priority = state.priority
        }
        // Suspension and priority may have changed during the preparation. Later changes go to the hop directly, because
        // `state.hop` is set.
        passSuspension(to: newHop.load, lastPassed: inputs.isSuspended)
        if priority != inputs.priority { newHop.load.setPriority(priority) }
        // Only hops over the network enforce the resource time-out themselves.
        if !newHop.usesNetwork { setAlarm() }
    }

    private func hopRequest(
        _ request: URLRequest, _ fields: AuthenticationFields, _ inputs: Inputs, _ transfer: TransferIdentity?
    ) -> HopRequest {
        HopRequest(
            request: request, body: inputs.body, isUpgrade: definition.kind == .webSocket,
            mayDecode: context.settings.lupine.decodesContent && definition.mayDecode,
            wholeTimeout: inputs.deadline.map { $0 - context.clock.now() }, priority: inputs.priority,
            loop: inputs.preferredLoop,
            usesClientIdentity: context.settings.mayIdentify(to: request.url, after: inputs.farthestMove),
            proxyAuthorization: fields.proxyAuthorization, tunnelAuthorizer: fields.tunnelAuthorizer,
            verifier: verifier(for: request), transfer: transfer)
    }

    /// A new id for the hop that is being prepared, with the reason for the hop. Transfer observers receive both.
    private var newTransfer: TransferIdentity {
        let (previous, redirectCount) = state.withLock { ($0.lastTransfer?.value, $0.redirectCount) }
        let cause: TransferCause =
            switch previous {
            case nil: .request
            case let previous? where previous.redirectCount < redirectCount: .redirect(after: previous.id)
            case let previous?: .repetition(after: previous.id)
            }
        return TransferIdentity(cause, taskIdentifier: client.driverIdentifier)
    }

    /// Records the hop as the last transfer that is reported to observers.
    private func recordTransfer(_ transfer: TransferIdentity) {
        state.withLock { state in
            state.lastTransfer = .value(LastTransfer(id: transfer.id, redirectCount: state.redirectCount))
        }
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

    /// Passes the suspension to the hop's load, and repeats that until the suspension has not changed meanwhile. Other threads
    /// may change the suspension and pass it on at the same time.
    ///
    /// - Parameters:
    ///   - load: The hop's load.
    ///   - lastPassed: The suspension that was last passed to the load.
    private func passSuspension(to load: any HopLoad, lastPassed: Bool) {
        var lastPassed = lastPassed
        while true {
            let isSuspended = state.withLock { $0.isSuspended }
            if isSuspended == lastPassed { return }
            load.setSuspended(isSuspended)
            lastPassed = isSuspended
        }
    }

    /// Tells the client which request is sent. It becomes the task's current request.
    func reportRequest() {
        let (request, authorization) = state.withLock { ($0.visibleRequest, $0.authorization) }
        client.driverWillSend(request, authorization: authorization)
    }
}
