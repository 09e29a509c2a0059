// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// An origin over TLS, and a pool whose exchanges use the profiles of a `TLSProfileSelector`.
struct TrustStage {
    let origin: LupineOrigin.Origin
    let pool: ConnectionPool
    let testedHTTP: TestedHTTP

    /// Returns an identity of the fixtures, with its chain.
    static func identity(_ name: String) throws -> SecIdentity {
        try SecIdentity(pemChain: PKI.text("\(name)-chain.pem"), pemKey: PKI.text("\(name).key"))
    }

    /// Returns a selector for a client that trusts the fixtures' root.
    func makeSelector(_ identity: SecIdentity? = nil) throws -> TLSProfileSelector {
        var configuration = try Self.configuration(identity)
        if testedHTTP == .http2 { configuration.applicationProtocols = ["h2"] }
        return TLSProfileSelector(configuration)
    }

    /// Returns a client's configuration that trusts the fixtures' root.
    static func configuration(_ identity: SecIdentity? = nil) throws -> TLSConfiguration {
        TLSConfiguration(
            roots: .certificates(try Certificate.pem(PKI.text("root.pem"))), identity: identity?.identity)
    }

    /// Runs `body` with an origin of this identity, whose connections close after one answer unless `keepsAlive` is true.
    static func run(
        _ leaf: String = "good", keepsAlive: Bool = false, asksForIdentity: Bool = false,
        over testedHTTP: TestedHTTP, _ body: (TrustStage) async throws -> Void
    ) async throws {
        var tls = TLSServerConfiguration(
            identities: [
                TLSServerIdentity(
                    try TLSIdentity(pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key")))
            ])
        if asksForIdentity {
            tls.clientCertificates = .requested(roots: try Certificate.pem(PKI.text("client-root.pem")))
        }
        var serving = OriginConfiguration()
        tls.enable(testedHTTP)
        serving.tls = tls
        serving.enable(testedHTTP)
        if !keepsAlive, testedHTTP == .http2 {
            serving.endpoint = .closing
        } else if !keepsAlive {
            serving.script = ScriptPlan(
                .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                .close)
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let group = try EventLoopGroup(count: 1, name: "stage")
        var resolution = Resolver.Configuration()
        resolution.overrides[Resolver.Endpoint(host: "*", port: origin.port)] = [origin.address]
        var pooling = ConnectionPool.Configuration()
        pooling.dial.versions = testedHTTP.versions
        let pool = ConnectionPool(
            configuration: pooling, group: group,
            resolver: Resolver(configuration: resolution))
        do { try await body(TrustStage(origin: origin, pool: pool, testedHTTP: testedHTTP)) } catch {
            Issue.record(error)
        }
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        await group.shutdown()
        await origin.shutdown()
    }

    /// Sends a request as an exchange of a task with this trust, and returns the error that it ends with, if any.
    func send(
        _ selector: TLSProfileSelector, _ trust: TaskPeerVerifier? = nil, host: String = "good.test",
        mayIdentify: Bool = true
    ) async throws -> TransportError? {
        var fields = Fields()
        try fields.append(.host, host)
        let key = LupineTransport.Origin(
            scheme: .https, host: host, port: origin.port,
            tls: selector.profile(host: host, port: origin.port, for: trust, mayIdentify: mayIdentify))
        let sink = EndSink()
        let exchange = Exchange(
            head: RequestHead(method: .get, target: .origin("/get"), fields: fields), origin: key,
            options: ExchangeOptions(verifier: trust), sink: sink)
        pool.submit(exchange)
        for await end in sink.ends { return end }
        return .shutDown
    }

    /// Returns the certificate that the client presented on a connection, if any.
    func client(on connection: Int) async -> Certificate? {
        await origin.handshake(on: connection)?.clientCertificates.first
    }
}

extension Endpoint {
    /// An endpoint that answers a request over HTTP/2, and ends its connection.
    static var closing: Endpoint {
        .chosen { _ throws(Refusal) in
            .perform(
                StreamScript([.shutDown(inSteps: false), .head([(":status", "200")], endsStream: true)]))
        }
    }
}

/// A sink that waits for the end of one exchange.
private final class EndSink: ExchangeSink {
    let ends: AsyncStream<TransportError?>
    private let continuation: AsyncStream<TransportError?>.Continuation

    init() { (ends, continuation) = AsyncStream.makeStream() }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan { .deliver }
    func receivedContent(_ bytes: Span<UInt8>) -> Demand { .more }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        if case .failure(let error) = result { continuation.yield(error) } else { continuation.yield(nil) }
        continuation.finish()
    }
}

/// A delegate that answers each challenge with its closure, and records all of them.
final class RecordingChallenger: ServerTrustChallenger {
    typealias Answer =
        @Sendable (URLAuthenticationChallenge) -> (
            URLSession.AuthChallengeDisposition, URLCredential?
        )

    let challenges = Lock<[URLAuthenticationChallenge]>([])
    private let answer: Answer

    init(_ answer: @escaping Answer) { self.answer = answer }

    /// Creates a delegate that handles server trust by default, and presents this identity.
    convenience init(showing identity: SecIdentity?) {
        self.init { challenge in
            guard challenge.protectionSpace.serverTrust == nil, let identity else {
                return (.performDefaultHandling, nil)
            }
            return (
                .useCredential, URLCredential(identity: identity, certificates: nil, persistence: .forSession)
            )
        }
    }

    /// Nil, since this object stands for the session's delegate.
    var ownDelegate: (any URLSessionDelegate)? { nil }
    func defersServerTrust(ofHost host: String) -> Bool { false }
    var count: Int { challenges.withLock { $0.count } }

    func evaluate(
        _ challenge: URLAuthenticationChallenge, reply: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        challenges.withLock { $0.append(challenge) }
        Task { [answer] in
            let (disposition, credential) = answer(challenge)
            reply(ChallengeAnswer(disposition: disposition, credential: credential, responder: .session))
        }
    }
}
