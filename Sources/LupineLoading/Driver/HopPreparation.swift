// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// The preparation of one hop: completes the request, finds the answers to challenges, looks for a cached response, and creates
/// the `HopLoad`.
///
/// A value that does not wait. Each step returns what the driver has to do next; if that is a computation or a look-up, its
/// result is passed to `receive`.
struct HopPreparation: ~Copyable, Sendable {
    /// What the driver has to do next.
    enum Next: Sendable {
        /// Compute the hash of the content, and pass it to `receive`.
        case computeHash(ContentHash)
        /// Look up `request` in the folder of the cache, and pass the result to `receive`.
        case lookUp(URLCache, CacheRequester)
        /// Deliver the cached response instead of starting a hop: on the caller's stack, or on another thread.
        case deliver(CachedDelivery, synchronously: Bool)
        /// Call `makeHop`, and start the hop.
        case startHop
        /// End the load with the error.
        case fail(URLError)
    }

    /// What the hop is made from; what is recorded for the hops after it.
    var basis: HopBasis
    let controls: HopControls
    private let kind: TaskDefinition.Kind
    private let deadline: Instant?
    /// Passes the challenges of connections to the program; nil if no connection was opened for the load.
    private let verifier: TaskPeerVerifier?
    private let context: SessionContext
    private let client: any TaskDriverClient
    /// The judge of the server of the hop's connection; nil if nothing depends on it.
    private var judge: TrustJudge?
    /// The request with all fields that were added until now.
    private(set) var request: URLRequest
    /// The request without answers to challenges and conditional fields of the cache.
    private var visibleRequest: URLRequest
    private var authenticationFields = AuthenticationFields()
    /// Nil if the cache is not used.
    private var requester: CacheRequester?
    /// The `URLCache.defaultKey` of the request; nil if it was not looked up.
    private var key: CacheKey?
    private var cacheUse = CacheUse()

    /// Creates a preparation that has not begun.
    ///
    /// - Parameters:
    ///   - basis: What the hop is made from.
    ///   - controls: The settings of the task.
    ///   - kind: The kind of the task.
    ///   - deadline: When the resource time-out expires; nil without a limit.
    ///   - verifier: The object that passes the challenges of the load's connections to the program; nil if there is none yet.
    ///   - context: The session's context.
    ///   - client: The task.
    init(
        _ basis: HopBasis, _ controls: HopControls, kind: TaskDefinition.Kind, deadline: Instant?,
        verifier: TaskPeerVerifier?, _ context: SessionContext, _ client: any TaskDriverClient
    ) {
        self.basis = basis
        self.controls = controls
        self.kind = kind
        self.deadline = deadline
        self.verifier = verifier
        self.context = context
        self.client = client
        request = basis.request
        visibleRequest = basis.request
    }

    /// Assembles the request.
    ///
    /// - Parameter original: The request for which the task was created.
    mutating func begin(_ original: URLRequest) -> Next {
        if let deadline, deadline <= context.clock.now() {
            return .fail(.resourceTimeout(of: request.url, after: context.settings.resourceTimeout))
        }
        if let reason = basis.reasonStreamCannotBeSent {
            return .fail(.loading(.requestBodyStreamExhausted, url: request.url, reason: reason))
        }
        // The judge is determined only here. If the delegate were released before the response arrives, a later look-up would
        // return another judge, and the response's cookies would be stored under that judge.
        if dependsOnJudge { judge = context.judge(of: client) }
        let assembly = HopAssembly(
            request: request, kind: kind, body: basis.body, move: basis.redirects.farthestMove,
            settings: context.settings, judge: judge)
        do throws(URLError) { request = try assembly.assembled() } catch { return .fail(error) }
        visibleRequest = request
        return beginAuthentication(original)
    }

    /// Whether the request depends on the judge, which decides whether the server is trusted. Responses that came over TLS, and
    /// cookies from servers that passed no check, are stored separately for each judge. These cookies may also be sent without
    /// TLS.
    private var dependsOnJudge: Bool {
        switch request.contents.value.scheme {
        case .https, .wss: true
        case .http, .ws: context.settings.cookieStorage?.hasUncheckedCookies ?? false
        default: false
        }
    }

    // MARK: answers to challenges

    /// Finds the answers to challenges of the server and the proxy that are known before the request is sent.
    private mutating func beginAuthentication(_ original: URLRequest) -> Next {
        guard let url = basis.redirects.url(of: request) else {
            return .fail(.loading(.unsupportedURL, url: nil, reason: "the request has no URL"))
        }
        let proxy = context.engine.authenticationProxy(for: url, isWebSocket: kind == .webSocket)
        // No answer is known: no challenge of this load, no proxy, and no accepted answer in the session's memory.
        if basis.authentication == nil, proxy == nil, context.authentication.isEmpty {
            return lookUpInCache()
        }
        var authentication = basis.authentication.take() ?? LoadAuthentication(of: original, context)
        let hash = authentication.begin(
            AuthenticationMessage(request, body: basis.body, url: url, proxy: proxy), client.driverCredential)
        basis.authentication = authentication
        // A Digest answer may need the hash of the body.
        return hash.map { .computeHash($0) } ?? receive([:])
    }

    /// Adds the answers to challenges to the request.
    ///
    /// - Parameter hashes: The result of the computation.
    mutating func receive(_ hashes: ContentHash.Result) -> Next {
        if let fields = basis.authentication?.fields(hashes) { authenticationFields = fields }
        if let value = authenticationFields.authorization { request.headerList.set("Authorization", value) }
        return lookUpInCache()
    }

    // MARK: the cache

    /// Looks up the request in the cache if the load may use the cache.
    private mutating func lookUpInCache() -> Next {
        switch (kind, request.contents.value.scheme) {
        case (.webSocket, _), (_, .file), (_, .data): return .startHop
        case (.data, _), (.upload, _), (.download, _): break
        }
        if bypassesCaches { return .startHop }
        requester = cacheRequester
        // The policy for a request that sets none.
        let policy = context.settings.requestCachePolicy
        guard let cache = context.settings.cache, let requester, basis.mayUseCacheEntry,
            CacheDecision.needsEntry(for: request, configuration: policy),
            let key = URLCache.defaultKey(of: request)
        else { return useCache(nil) }
        self.key = key
        switch cache.lookUpInMemory(key, request, for: requester) {
        case .complete(let entry): return useCache(entry, isInMemory: true)
        case .onDisk: return .lookUp(cache, requester)
        }
    }

    /// Continues with the result of a look-up in the cache's folder.
    mutating func receive(_ entry: CacheEntry?) -> Next { useCache(entry) }

    /// The requester on whose behalf the cache is searched: only responses that were stored for the same requester may answer the
    /// request. A requester is identified by the trust policy, client certificate and proxy of the connection that the request
    /// would use. Nil if the cache is not used.
    private var cacheRequester: CacheRequester? {
        let isPlaintext = request.contents.value.scheme == .http
        guard request.httpMethod == "GET", let url = request.url,
            let sessionRequester = isPlaintext ? context.plainCacheRequester : context.secureCacheRequester
        else { return nil }
        let fields = sessionRequester.identifyingFields
        if isPlaintext {
            // Nil for a direct connection, for which the session's requester is complete.
            guard let route = context.engine.cacheRoute(to: url, as: basis.authentication?.proxyCredential)
            else { return sessionRequester }
            return CacheRequester(
                policy: sessionRequester.policy, client: sessionRequester.client, route: route,
                identifyingFields: fields)
        }
        let judge = judge ?? context.judge(of: client)
        let mayIdentify = context.settings.mayIdentify(to: url, after: basis.redirects.farthestMove)
        // The fingerprint of the client certificate; nil if no certificate may be presented.
        let client = mayIdentify ? chosenClientFingerprint(at: url) ?? sessionRequester.client : nil
        // Without objects, no delegate decides: the session's own policy applies.
        if judge.objects.isEmpty, client == sessionRequester.client { return sessionRequester }
        return CacheRequester(
            policy: judge.objects.isEmpty ? sessionRequester.policy : .judge(judge), client: client,
            identifyingFields: fields)
    }

    /// Returns the fingerprint of the client certificate with which the task has answered a challenge of the URL's origin; nil if
    /// there was no such answer. The task's later connections to that origin present the same certificate.
    private func chosenClientFingerprint(at url: URL) -> SHA256Digest? {
        guard let verifier, let host = url.hostName,
            case .identity(let identity)? = verifier.identityChoice(
                host: HostName.canonical(host), port: UInt16(clamping: url.port ?? 443))
        else { return nil }
        return identity.certificate.fingerprint
    }

    /// Whether the request concerns no cache: the session has none, and the request has no fields for caches on the way to the
    /// server. For speed, only requests with exactly the session's own fields are recognised, as most requests are.
    private var bypassesCaches: Bool {
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

    /// Continues as the `CacheDecision` for the request says.
    ///
    /// - Parameters:
    ///   - entry: The entry that the cache has for the request, if any.
    ///   - isInMemory: Whether the entry was found in memory, so that the look-up did not change the thread.
    private mutating func useCache(_ entry: CacheEntry?, isInMemory: Bool = false) -> Next {
        // Whether responses of this task may be stored (U-12.4).
        let mayStore = context.settings.cache != nil && (kind == .data || kind == .upload)
        let storageRequest = mayStore ? request : nil
        let decision = CacheDecision(
            for: request, configuration: context.settings.requestCachePolicy, entry: entry,
            at: context.clock.date())
        switch decision {
        case .use(let entry):
            // The entry is delivered on the caller's stack only if this calls no code of the program. An event loop never
            // delivers it, because other connections would wait. The delivery reads the response's length, which runs the
            // program's code if the response is of a class of the program.
            let isSynchronous =
                isInMemory && EventLoop.current == nil && entry.response.response.isLibraryClass
                && client.driverDefersCallbacks
            return .deliver(
                CachedDelivery(
                    entry, for: visibleRequest, authorization: authenticationFields.authorization),
                synchronously: isSynchronous)
        case .fail:
            let address = request.url?.withoutUserInfo.absoluteString ?? ""
            return .fail(
                .loading(
                    .resourceUnavailable, url: request.url,
                    reason:
                        "the cache has no answer for \(address), and the request's cachePolicy is not to load it"
                ))
        case .revalidate(let entry, let conditionalFields):
            cacheUse = CacheUse(
                storageRequest: storageRequest, supersededURL: request.url, revalidatedEntry: entry,
                requester: requester, storageKey: key)
            for field in conditionalFields { request.headerList.set(field.name, field.value) }
        // The added fields, if any, tell the caches on the way to ask the origin.
        case .load(let addedFields):
            // Only a look-up can show that there is no entry to supersede. A request without a key cannot be stored.
            let mayHaveEntry = key == nil || entry != nil
            let isStorable = storageRequest != nil && CacheRule.hasKey(request)
            cacheUse = CacheUse(
                storageRequest: storageRequest,
                supersededURL: isStorable && mayHaveEntry ? storageRequest?.url : nil,
                requester: requester, storageKey: key)
            for field in addedFields { request.headerList.set(field.name, field.value) }
        // The program does its own caching.
        case .bypass: break
        }
        return .startHop
    }

    // MARK: the hop

    /// Creates the hop. Throws if nothing supports the scheme.
    ///
    /// - Parameters:
    ///   - definition: The definition of the task.
    ///   - verifier: The object that passes the challenges of the hop's connection to the program; nil if there are none.
    ///   - hopClient: The client of the hop.
    mutating func makeHop(
        _ definition: TaskDefinition, _ verifier: TaskPeerVerifier?, for hopClient: any HopLoadClient
    ) throws(URLError) -> PreparedHop {
        definition.addHandshakeFields?(&request)
        let transfer = context.engine.reporter == nil ? nil : basis.newTransfer(of: client.driverIdentifier)
        let fields = authenticationFields
        let hopRequest = HopRequest(
            request: request, body: basis.body, isUpgrade: kind == .webSocket,
            mayDecode: context.settings.lupine.decodesContent && definition.mayDecode,
            wholeTimeout: deadline.map { $0 - context.clock.now() }, priority: controls.priority,
            loop: controls.preferredLoop,
            usesClientIdentity: context.settings.mayIdentify(
                to: request.url, after: basis.redirects.farthestMove),
            proxyAuthorization: fields.proxyAuthorization, tunnelAuthorizer: fields.tunnelAuthorizer,
            verifier: verifier, transfer: transfer)
        guard let new = context.hopLoadFactory.make(hopRequest, context, client, hopClient) else {
            let scheme = request.url?.scheme ?? ""
            throw .loading(
                .unsupportedURL, url: request.url,
                reason:
                    "the scheme \"\(scheme)\" is not supported: http, https, file and data are, and what the "
                    + "session's protocolClasses take")
        }
        basis.recordSending(of: request)
        // Only transfers over the network are reported to observers.
        if let transfer, new.load is NetworkLoad { basis.record(transfer) }
        if controls.isSuspended { new.load.setSuspended(true) }
        return PreparedHop(
            load: new.load, usesNetwork: new.usesNetwork, sentRequest: request,
            visibleRequest: visibleRequest, authorization: fields.authorization,
            hasSentAnswer: fields.authorization != nil || fields.proxyAuthorization != nil
                || fields.tunnelAuthorizer != nil,
            judge: judge, fetchStart: context.clock.date(), cacheUse: cacheUse)
    }
}

extension SessionContext {
    /// Returns the judge of a task: its delegates, its evaluator and its trust roots, which decide whether a server is trusted.
    func judge(of client: any TaskDriverClient) -> TrustJudge {
        TrustJudge(objects: client.driverJudges, evaluator: engine.evaluator, roots: rootsName)
    }
}
