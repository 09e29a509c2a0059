// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What the loads of one session share: its settings, its engine, and its memory of challenges.
///
/// Made by the session. Any thread.
final class SessionContext: Sendable {
    let settings: SessionSettings
    /// The cache reader for requests without TLS that take no proxy or detour; nil without a cache.
    let openCacheReader: CacheRequester?
    private let secureReader = Lock<(roots: String, reader: CacheRequester)?>(nil)
    let engine: SessionEngine
    let authentication = AuthenticationMemory()
    /// Creates the load of each transaction.
    let loads: HopSource
    /// The clock of the loads.
    let clock: SessionClock
    /// Reports network changes, after which a load that waits for connectivity tries again.
    let network: NetworkWatch

    /// - Parameters:
    ///   - settings: The session's configuration.
    ///   - engine: The session's engine; by default one made for these settings.
    ///   - loads: Creates the loads of transactions.
    ///   - clock: The clock of the loads; by default that of the settings.
    ///   - network: Reports network changes.
    init(
        _ settings: SessionSettings, engine: SessionEngine? = nil, loads: HopSource = .standard,
        clock: SessionClock? = nil, network: NetworkWatch = .system
    ) {
        self.settings = settings
        let engine = engine ?? SessionEngine(settings)
        self.engine = engine
        openCacheReader = settings.cache.map { _ in Self.reader(settings, engine, roots: "") }
        self.loads = loads
        self.clock = clock ?? settings.clock
        self.network = network
    }

    /// Distinguishes the session's trust roots from others: as they were read; before that, as their files are now.
    var rootsName: String { engine.rootsName }

    /// The cache reader for requests over TLS if no delegate decides about servers; nil without a cache.
    var cacheReader: CacheRequester? {
        if openCacheReader == nil { return nil }
        let roots = rootsName
        return secureReader.withLock { known in
            if let known, known.roots == roots { return known.reader }
            let reader = Self.reader(settings, engine, roots: roots)
            known = (roots, reader)
            return reader
        }
    }

    private static func reader(
        _ settings: SessionSettings, _ engine: SessionEngine, roots: String
    ) -> CacheRequester {
        CacheRequester(
            policy: CacheRequester.policy(engine.evaluator, roots: roots),
            client: settings.tls.identity?.certificate.fingerprint,
            identifyingFields: settings.identifyingFields)
    }
}

/// Creates the load of a transaction: over the network, or by a protocol.
struct HopSource: Sendable {
    /// A load that is ready to start.
    struct Hop: Sendable {
        let load: any HopLoad
        /// Whether the load uses the network, so that the driver handles its redirects, challenges and cookies. A program's
        /// `URLProtocol` reports redirects and challenges itself (U-17.5).
        let usesNetwork: Bool
    }

    /// Creates the load; nil if nothing supports the scheme. Called on the thread that continues the task's load.
    let make: @Sendable (HopRequest, SessionContext, any TaskDriverClient, any HopLoadClient) -> Hop?
    /// Whether `make` may call the program's code; if so, it is not called on a loop.
    var asksProgram: @Sendable (SessionContext) -> Bool = { _ in false }
}
