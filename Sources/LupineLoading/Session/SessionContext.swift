// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What the loads of one session share: its settings, its way to the network, what it knows of who asked whom.
///
/// Made by the session. Any thread.
final class SessionContext: Sendable {
    let settings: SessionSettings
    /// Who asks the cache about requests without TLS where nothing stands between; nil without a cache.
    let openCacheReader: CacheReader?
    private let secureReader = Lock<(roots: String, reader: CacheReader)?>(nil)
    let engine: SessionEngine
    let authentication = AuthenticationMemory()
    /// What carries out each hop.
    let loads: HopSource
    /// What the loads go by.
    let clock: SessionClock
    /// Tells when it is worth trying again.
    let network: NetworkWatch

    /// - Parameters:
    ///   - settings: The session's configuration.
    ///   - engine: The session's; by default one made for these settings.
    ///   - loads: Finds what carries out hops.
    ///   - clock: What the loads go by; by default the clock of the settings.
    ///   - network: Tells of changes of the network.
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

    /// What tells the roots of the session from others: as they were read; before that, as their files are now.
    var rootsName: String { engine.rootsName }

    /// Who asks the cache about what comes over TLS where no delegate has a say; nil without a cache.
    var cacheReader: CacheReader? {
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
    ) -> CacheReader {
        CacheReader(
            policy: CacheReader.policy(engine.evaluator, roots: roots),
            client: settings.tls.identity?.certificate.fingerprint,
            identifyingFields: settings.identifyingFields)
    }
}

/// Finds what carries out a hop: the network, or a protocol.
struct HopSource: Sendable {
    /// A hop that is ready to start.
    struct Hop: Sendable {
        let load: any HopLoad
        /// Whether it speaks HTTP itself: redirects, challenges and cookies are then the driver's to see to. A protocol of the
        /// program's says itself what it wants (U-17.5).
        let isTransaction: Bool
    }

    /// Makes the hop; nil when nothing knows the scheme. Called on the thread that goes on with the load.
    let make: @Sendable (HopRequest, SessionContext, any TaskDriverClient, any HopLoadClient) -> Hop?
    /// Whether `make` may call the program's code: then it is not called on a loop.
    var asksProgram: @Sendable (SessionContext) -> Bool = { _ in false }

    /// The configuration's protocols, then the built-in places.
    static let standard = HopSource(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: context.settings.protocolClasses ?? [], context: context, task: task,
                client: client)
        },
        asksProgram: { $0.settings.protocolClasses?.isEmpty == false })

    /// The same for the shared session: all protocols that are registered at the moment.
    static let shared = HopSource(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: ProtocolRegistry.classes, context: context, task: task, client: client)
        },
        asksProgram: { _ in !ProtocolRegistry.classes.isEmpty })
}
