// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// What tests over TLS begin with: an origin with an identity of the fixtures, and a client that trusts their root.
enum SecureStage {
    /// An identity with its chain.
    static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: PKI.bytes("\(name)-chain.pem"), pemKey: PKI.bytes("\(name).key"))
    }

    /// The one certificate of a file.
    static func certificate(_ name: String) throws -> Certificate {
        try #require(Certificate.pem(PKI.bytes("\(name).pem")).first)
    }

    /// The fixtures' root and nothing else.
    static let roots = TrustRoots(includesSystem: false, files: [PKI.path("root.pem")])

    /// A client's settings; every name leads to loopback.
    static func settings(
        _ origin: OriginServer, _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient.Configuration {
        .with { settings in
            settings.tls.roots = roots
            settings.overrides[.init(host: "*", port: origin.port)] = [origin.address]
            change(&settings)
        }
    }

    /// An origin's settings.
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

    /// A port nothing but whose number matters: `https://good.test:port`.
    static func url(_ origin: OriginServer, host: String = "good.test", _ path: String = "/") -> String {
        "https://\(host):\(origin.port)\(path)"
    }
}

/// What a test wants otherwise than the other tests over TLS.
struct SettingsChange {
    let change: (inout HTTPClient.Configuration) -> Void

    static var none: SettingsChange { SettingsChange { _ in } }

    static func with(_ change: @escaping (inout HTTPClient.Configuration) -> Void) -> SettingsChange {
        SettingsChange(change: change)
    }
}

/// Runs `body` with an origin over TLS and a client with a loop of its own, both ended afterwards.
func withSecureStack<Result>(
    _ serving: OriginConfiguration? = nil, buffers: Int32? = nil,
    settings change: SettingsChange = .none, _ body: (HTTPClient, OriginServer) async throws -> Result
) async throws -> Result {
    var serving = try serving ?? SecureStage.serving()
    serving.socketBuffers = buffers ?? serving.socketBuffers
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

/// The same one floor lower: a pool whose exchanges may have any profile.
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

    /// A profile that trusts the fixtures' root.
    static func profile(
        trust: TrustEvaluator = .default, identitySource: TLSProfile.IdentitySource? = nil
    ) -> TLSProfile {
        TLSProfile(
            TLSConfiguration(roots: SecureStage.roots), trust: trust, identitySource: identitySource)
    }

    /// An exchange with the origin, not submitted yet.
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

    /// Sends one and waits for its end.
    @discardableResult
    func send(
        _ target: String = "/get", fields: [(FieldName, String)] = [], host: String = "good.test",
        profile: TLSProfile, sink: RecordingSink = RecordingSink()
    ) async throws -> RecordingSink {
        let made = try exchange(target, fields: fields, host: host, profile: profile, sink: sink)
        pool.submit(made.exchange)
        await sink.ended.wait()
        return sink
    }
}
