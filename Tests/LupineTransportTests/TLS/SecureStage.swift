// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// The set-up of tests over TLS: an origin with an identity of the fixtures, and a client that trusts their root.
enum SecureStage {
    /// Returns an identity with its chain.
    static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: PKI.bytes("\(name)-chain.pem"), pemKey: PKI.bytes("\(name).key"))
    }

    /// Returns the only certificate of a file.
    static func certificate(_ name: String) throws -> Certificate {
        try #require(Certificate.pem(PKI.bytes("\(name).pem")).first)
    }

    /// The fixtures' root and nothing else.
    static let roots = TrustRoots(includesSystem: false, files: [PKI.path("root.pem")])

    /// Returns the settings of a client that resolves every host name to the origin's address.
    static func settings(
        _ origin: OriginServer, _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient.Configuration {
        .with { settings in
            settings.tls.roots = roots
            settings.overrides[.init(host: "*", port: origin.port)] = [origin.address]
            change(&settings)
        }
    }

    /// Returns the configuration of an origin.
    static func serving(
        _ names: [String] = ["good"], _ plan: ScriptPlan? = nil,
        _ change: (inout TLSServerConfiguration) throws -> Void = { _ in }
    ) throws -> OriginConfiguration {
        var tls = TLSServerConfiguration(
            identities: try names.map {
                try TLSServerIdentity(identity($0), serverNames: ["\($0).test", "other.\($0).test"])
            })
        try change(&tls)
        var serving = OriginConfiguration()
        serving.tls = tls
        serving.script = plan
        serving.recordedBytes = 1 << 20
        serving.idleTimeout = .seconds(3_600)
        return serving
    }

    /// Returns a URL such as `https://good.test:port/`, of which only the port determines the address.
    static func url(_ origin: OriginServer, host: String = "good.test", _ path: String = "/") -> String {
        "https://\(host):\(origin.port)\(path)"
    }
}

/// A change of the client's settings for one test.
struct SettingsChange {
    let change: (inout HTTPClient.Configuration) -> Void

    static var none: SettingsChange { SettingsChange { _ in } }

    static func with(_ change: @escaping (inout HTTPClient.Configuration) -> Void) -> SettingsChange {
        SettingsChange(change: change)
    }
}

/// Runs `body` with an origin over TLS and a client that has its own loop, and shuts both down afterwards.
func withSecureStack<Result>(
    _ serving: OriginConfiguration? = nil, buffers: Int32? = nil,
    settings change: SettingsChange = .none, _ body: (HTTPClient, OriginServer) async throws -> Result
) async throws -> Result {
    var serving = try serving ?? SecureStage.serving()
    serving.socketBufferSize = buffers ?? serving.socketBufferSize
    let origin = try OriginServer.start(configuration: serving)
    let client = HTTPClient(configuration: SecureStage.settings(origin, change.change))
    do {
        let result = try await body(client, origin)
        await client.shutdown()
        await origin.shutdown()
        return result
    } catch {
        await client.shutdown()
        await origin.shutdown()
        throw error
    }
}

/// Runs `body` with an origin over TLS and a pool, whose exchanges may have any profile, and shuts both down afterwards.
func withSecurePool<Result>(
    _ serving: OriginConfiguration? = nil, dial change: (inout DialConfiguration) -> Void = { _ in },
    clock: any TransportClock = MonotonicClock(), callouts: Int = EventLoopGroup.calloutLimit,
    name: String = "stage", _ body: (SecurePool) async throws -> Result
) async throws -> Result {
    let origin = try OriginServer.start(configuration: try serving ?? SecureStage.serving())
    let group = try EventLoopGroup(count: 1, name: name, clock: clock, callouts: callouts)
    var configuration = ConnectionPool.Configuration()
    change(&configuration.dial)
    var resolution = Resolver.Configuration()
    resolution.overrides[Resolver.Endpoint(host: "*", port: origin.port)] = [origin.address]
    let stage = SecurePool(
        origin: origin, group: group,
        pool: ConnectionPool(
            configuration: configuration, group: group, resolver: Resolver(configuration: resolution)))
    func end() async {
        await withCheckedContinuation { continuation in stage.pool.shutDown { continuation.resume() } }
        await group.shutdown()
        await origin.shutdown()
    }
    do {
        let result = try await body(stage)
        await end()
        #expect(stage.pool.openCount == 0)
        return result
    } catch {
        await end()
        throw error
    }
}

/// A pool and an origin over TLS.
struct SecurePool {
    let origin: OriginServer
    let group: EventLoopGroup
    let pool: ConnectionPool

    /// Returns a profile that trusts the fixtures' root.
    static func profile(
        trust: TrustEvaluator = .default, identitySource: TLSProfile.IdentitySource? = nil
    ) -> TLSProfile {
        TLSProfile(
            TLSConfiguration(roots: SecureStage.roots), trust: trust, identitySource: identitySource)
    }

    /// Returns an exchange with the origin; it is not submitted yet.
    func exchange(
        _ target: String = "/", method: Method = .get, fields: [(FieldName, String)] = [],
        content: OutgoingContent = .none, host: String = "good.test", profile: TLSProfile,
        proxy: ProxyServer? = nil, options: ExchangeOptions = ExchangeOptions(),
        sink: RecordingSink = RecordingSink()
    ) throws -> (exchange: Exchange, sink: RecordingSink) {
        var list = Fields()
        try list.append(.host, host)
        for (name, value) in fields { try list.append(name, value) }
        let key = LupineTransport.Origin(
            scheme: .https, host: host, port: origin.port, proxy: proxy, tls: profile)
        return (
            Exchange(
                head: RequestHead(method: method, target: .origin(target), fields: list), content: content,
                origin: key, options: options, sink: sink), sink
        )
    }

    /// Submits an exchange and waits for its end.
    @discardableResult
    func send(
        _ target: String = "/get", fields: [(FieldName, String)] = [], host: String = "good.test",
        profile: TLSProfile, sink: RecordingSink = RecordingSink()
    ) async throws -> RecordingSink {
        let pair = try exchange(target, fields: fields, host: host, profile: profile, sink: sink)
        pool.submit(pair.exchange)
        await sink.ended.wait()
        return sink
    }
}
