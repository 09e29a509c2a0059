// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Holds what the loads of one session share: its settings, its engine, and its memory of challenges.
///
/// Created by `SessionCore`. May be used on any thread.
final class SessionContext: Sendable {
    let settings: SessionSettings
    /// The cache requester for requests without TLS on a direct connection: without a proxy and `SessionEngine.connectionOverrides`. Nil
    /// without a cache.
    let plainCacheRequester: CacheRequester?
    /// The last value of `secureCacheRequester`, and the name of the trust roots that it was made for.
    private let knownSecureRequester = Lock<(roots: String, requester: CacheRequester)?>(nil)
    let engine: SessionEngine
    let authentication = AuthenticationMemory()
    /// Creates the load of each hop.
    let loads: HopLoadFactory
    /// The clock of the loads.
    let clock: SessionClock
    /// Reports network changes, after which a load that waits for connectivity tries again.
    let network: NetworkWatch

    /// - Parameters:
    ///   - settings: The session's configuration.
    ///   - engine: The session's engine; by default one made for these settings.
    ///   - loads: Creates the loads of hops.
    ///   - clock: The clock of the loads; by default that of the settings.
    ///   - network: Reports network changes.
    init(
        _ settings: SessionSettings, engine: SessionEngine? = nil, loads: HopLoadFactory = .standard,
        clock: SessionClock? = nil, network: NetworkWatch = .system
    ) {
        self.settings = settings
        let engine = engine ?? SessionEngine(settings)
        self.engine = engine
        plainCacheRequester = settings.cache.map { _ in Self.makeRequester(settings, engine, roots: "") }
        self.loads = loads
        self.clock = clock ?? settings.clock
        self.network = network
    }

    /// A name that distinguishes the session's trust roots from others, see `SessionEngine.rootsName`.
    var rootsName: String { engine.rootsName }

    /// The cache requester for requests over TLS if no delegate decides about servers; nil without a cache.
    var secureCacheRequester: CacheRequester? {
        // Nil only without a cache.
        if plainCacheRequester == nil { return nil }
        let roots = rootsName
        return knownSecureRequester.withLock { known in
            if let known, known.roots == roots { return known.requester }
            let requester = Self.makeRequester(settings, engine, roots: roots)
            known = (roots, requester)
            return requester
        }
    }

    private static func makeRequester(
        _ settings: SessionSettings, _ engine: SessionEngine, roots: String
    ) -> CacheRequester {
        CacheRequester(
            policy: CacheRequester.policy(engine.evaluator, roots: roots),
            client: settings.tls.identity?.certificate.fingerprint,
            identifyingFields: settings.identifyingFields)
    }
}

/// Creates the load of a hop: over the network, by a `URLProtocol`, or for a `file:` or `data:` URL.
struct HopLoadFactory: Sendable {
    /// A load that is ready to start.
    struct Hop: Sendable {
        let load: any HopLoad
        /// Whether the load uses the network, so that the driver handles its redirects, challenges and cookies. A program's
        /// `URLProtocol` reports redirects and challenges itself (U-17.5).
        let usesNetwork: Bool
    }

    /// Creates the load; returns nil if nothing supports the scheme. Called by `TaskDriver`, on the thread that continues the
    /// task's load.
    let make: @Sendable (HopRequest, SessionContext, any TaskDriverClient, any HopLoadClient) -> Hop?
    /// Whether `make` may call the program's code; if so, it is not called on a loop.
    var mayCallProgram: @Sendable (SessionContext) -> Bool = { _ in false }
}
