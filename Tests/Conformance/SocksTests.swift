// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// Tests with Dante: name resolution by the proxy, and its refusals.
@Suite struct SocksTests {
    @Test(.timeLimit(.minutes(10))) func namesAreResolvedByTheProxyAlone() async throws {
        let origin = try LupineOrigin.Origin.start()
        try await ServerProcess.with(DanteServer()) { dante in
            let lookUps = LookUps()
            let group = try EventLoopGroup(count: 1, name: "socks-test")
            let pool = ConnectionPool(
                configuration: ConnectionPool.Configuration(), group: group,
                resolver: Resolver { (host, family) throws(ResolutionError) in
                    try lookUps.function(host, family)
                })
            let proxy = ProxyServer(kind: .socks5, host: "127.0.0.1", port: dante.place.port)
            let name = DanteServer.privateName
            let inlet = ResponseSink(decodes: false, host: name, port: origin.port)
            var fields = Fields()
            try fields.append(.host, "\(name):\(origin.port)")
            let exchange = Exchange(
                head: RequestHead(method: .get, target: .origin("/get"), fields: fields),
                origin: LupineTransport.Origin(scheme: .http, host: name, port: origin.port, proxy: proxy),
                sink: inlet)
            let head = try await inlet.head(of: exchange, through: pool)
            try #require(head.status.code == 200)
            while try await inlet.next() != nil {}
            try #require(lookUps.all.isEmpty)
            await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
            await group.shutdown()
        }
        await origin.shutdown()
    }

    /// The client cannot resolve the name itself: so the test above shows that the proxy did.
    @Test(.timeLimit(.minutes(10))) func theNameMeansNothingHere() async throws {
        let client = HTTPClient()
        do {
            _ = try await client.get("http://\(DanteServer.privateName):1/")
            Issue.record("the name resolved")
        } catch {
            guard case .resolution = error else { throw error }
        }
        await client.shutdown()
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var server = DanteServer(refusedPort: 9)
        var user = ""
        let target: String
        let expected: SocksError
        var testDescription: String { name }
    }

    static let refusals: [Row] = [
        Row(name: "a port that its rules forbid", target: "http://127.0.0.1:9/", expected: .notAllowed),
        Row(name: "nobody listens", target: "http://127.0.0.1:2/", expected: .connectionRefused),
        Row(
            name: "a name that nobody knows", target: "http://unknown.lupine.test/",
            expected: .hostUnreachable),
        Row(
            name: "it wants a user and we have none", server: DanteServer(credentials: TestUser.forDante),
            target: "http://127.0.0.1:2/", expected: .noAcceptableMethod),
        Row(
            name: "the password is wrong", server: DanteServer(credentials: TestUser.forDante),
            user: "lupine:wrong@", target: "http://127.0.0.1:2/",
            expected: .authenticationRefused(status: 1)),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: refusals) func whatItRefuses(_ row: Row) async throws {
        try await ServerProcess.with(row.server) { dante in
            var configuration = HTTPClient.Configuration()
            configuration.proxy = .url("socks5h://\(row.user)127.0.0.1:\(dante.place.port)")
            let client = HTTPClient(configuration: configuration)
            do {
                _ = try await client.get(row.target)
                throw RowFailure("it answered")
            } catch let error as TransportError {
                try #require(
                    error == .socks(proxy: "socks5h://127.0.0.1:\(dante.place.port)", row.expected))
            }
            await client.shutdown()
        }
    }
}

/// Records the names that the client looked up, and resolves none of them.
private final class LookUps: Sendable {
    private let names = Lock<[String]>([])
    var all: [String] { names.withLock { $0 } }

    func function(_ host: String, _ family: AddressFamily) throws(ResolutionError) -> [SocketAddress] {
        names.withLock { $0.append(host) }
        throw .nameNotFound
    }
}
