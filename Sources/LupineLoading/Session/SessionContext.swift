// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What the loads of one session share: the session's settings, its engine, and its memory of challenges.
///
/// Created by `SessionCore`. May be used on any thread.
final class SessionContext: Sendable {
    let settings: SessionSettings
    /// Decides which cached responses a task may receive. Applies to requests without TLS, if neither a proxy nor
    /// `SessionEngine.connectionOverrides` is used. Nil without a cache.
    let plainCacheRequester: CacheRequester?
    /// The last value of `secureCacheRequester`, and the name of the trust roots for which it was created.
    private let latestSecureRequester = Lock<(roots: String, requester: CacheRequester)?>(nil)
    /// Opens and pools the session's connections.
    let engine: SessionEngine
    /// The challenges of servers and proxies, with the credentials that have answered them.
    let authentication = AuthenticationMemory()
    /// Creates the load of each hop. A hop is one request of a task: the first one, or one after a redirect or a challenge.
    let hopLoadFactory: HopLoadFactory
    /// The clock of the loads.
    let clock: SessionClock
    /// Reports network changes, after which a load that waits for connectivity tries again.
    let network: NetworkWatch

    /// Creates the context of a session.
    ///
    /// - Parameters:
    ///   - settings: The session's configuration.
    ///   - engine: The session's engine; nil to create one for these settings.
    ///   - hopLoadFactory: Creates the loads of hops.
    ///   - clock: The clock of the loads; nil for that of the settings.
    ///   - network: Reports network changes.
    init(
        _ settings: SessionSettings, engine: SessionEngine? = nil, hopLoadFactory: HopLoadFactory = .standard,
        clock: SessionClock? = nil, network: NetworkWatch = .system
    ) {
        self.settings = settings
        let engine = engine ?? SessionEngine(settings)
        self.engine = engine
        // Without TLS there are no trust roots, so their name is empty.
        plainCacheRequester = settings.cache.map { _ in Self.makeRequester(settings, engine, roots: "") }
        self.hopLoadFactory = hopLoadFactory
        self.clock = clock ?? settings.clock
        self.network = network
    }

    /// A name that distinguishes the session's trust roots from others, see `SessionEngine.rootsName`.
    var rootsName: String { engine.rootsName }

    /// Decides which cached responses a task may receive. Applies to requests over TLS, if no delegate decides whether
    /// servers are trusted. Nil without a cache.
    var secureCacheRequester: CacheRequester? {
        // The plain requester is nil only if there is no cache.
        if plainCacheRequester == nil { return nil }
        let roots = rootsName
        return latestSecureRequester.withLock { latest in
            if let latest, latest.roots == roots { return latest.requester }
            let requester = Self.makeRequester(settings, engine, roots: roots)
            latest = (roots, requester)
            return requester
        }
    }

    /// Creates a requester for a session with these settings.
    ///
    /// - Parameters:
    ///   - settings: The settings of the session.
    ///   - engine: The engine of the session.
    ///   - roots: The name of the trust roots; empty for requests without TLS.
    private static func makeRequester(
        _ settings: SessionSettings, _ engine: SessionEngine, roots: String
    ) -> CacheRequester {
        CacheRequester(
            policy: CacheRequester.policy(engine.evaluator, roots: roots),
            client: settings.tls.identity?.certificate.fingerprint,
            identifyingFields: settings.identifyingFields)
    }
}

/// Creates the load of a hop: over the network, by a `URLProtocol`, or for a `file:` or `data:` URL. A hop is one request of a
/// task: the first one, or one after a redirect or a challenge.
struct HopLoadFactory: Sendable {
    /// A load that is ready to start.
    struct NewLoad: Sendable {
        let load: any HopLoad
        /// Whether the load uses the network, so that the driver handles its redirects, challenges and cookies. A program's
        /// `URLProtocol` reports redirects and challenges itself (U-17.5).
        let usesNetwork: Bool
    }

    /// Creates the load; returns nil if nothing supports the scheme. Called by `TaskDriver`, on the thread that continues the
    /// task's load.
    let make: @Sendable (HopRequest, SessionContext, any TaskDriverClient, any HopLoadClient) -> NewLoad?
    /// Returns whether `make` may call the program's code. Then `make` must not be called on an event loop, which that code could
    /// block.
    var mayCallProgram: @Sendable (SessionContext) -> Bool = { _ in false }
}
