// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineTesting

/// Tests that recording keeps every trust boundary that the recorded session would keep.
@Suite(.timeLimit(.minutes(10))) struct HostileRecordingTests {
    /// Calls `body` with a recorder that connects to servers with the configuration that `configure` changes.
    private func recording(
        by configure: (URLSessionConfiguration) throws -> Void, _ body: (Recorder) async throws -> Void
    ) async throws {
        try await RecordingTests.inFolder { folder in
            let configuration = URLSessionConfiguration.ephemeral
            try configure(configuration)
            let recorder = try Recorder(
                into: folder.appending(path: "recording"), configuration: configuration)
            try await body(recorder)
            try recorder.verify()
        }
    }

    @Test("a redirect shows another origin nothing of the configuration's")
    func redirectedFields() async throws {
        try await withOrigin { home in
            try await withOrigin { other in
                home.route("GET", "/from", .redirect(to: other.url("/to").absoluteString))
                other.route("GET", "/to", .text("there"))
                try await recording {
                    $0.httpAdditionalHeaders = [
                        "Authorization": "Bearer s3cr3t", "X-Tenant": "s3cr3t", "X-Plain": "1",
                    ]
                    $0.lupine.sensitiveFields.insert("X-Tenant")
                } _: { recorder in
                    let text = try await recorder.session().request(home.url("/from"))
                        .serializingString().value
                    #expect(text == "there")
                }
                let sent = try #require(home.requests.first)
                #expect(
                    sent.headers["Authorization"] == "Bearer s3cr3t" && sent.headers["X-Tenant"] == "s3cr3t")
                let shown = try #require(other.requests.first)
                #expect(shown.headers["Authorization"] == nil && shown.headers["X-Tenant"] == nil)
                #expect(!shown.headers.fields.contains { $0.value.contains("s3cr3t") })
            }
        }
    }

    @Test("nor the identity, unless it says where that may be shown", arguments: [false, true])
    func redirectedIdentity(_ isNamed: Bool) async throws {
        let origins = try (0..<2).map { _ in
            var tls = TLSServerConfiguration(
                identities: [
                    TLSServerIdentity(
                        try TLSIdentity(pemChain: PKI.bytes("good-chain.pem"), pemKey: PKI.bytes("good.key")),
                        serverNames: ["good.test"])
                ])
            tls.clientCertificates = .requested(roots: try Certificate.pem(PKI.bytes("client-root.pem")))
            var serving = OriginConfiguration()
            serving.tls = tls
            return try LupineOrigin.Origin.start(configuration: serving)
        }
        let there = "https://good.test:\(origins[1].port)/status/200"
        try await recording {
            $0.lupine.tls.identity = try TLSIdentity(
                pemChain: PKI.bytes("client-ecdsa-chain.pem"), pemKey: PKI.bytes("client-ecdsa.key"))
            $0.lupine.tls.roots = .certificates(try Certificate.pem(PKI.bytes("root.pem")))
            for origin in origins {
                $0.lupine.addressOverrides[.init(host: "*", port: origin.port)] = [origin.address]
            }
            if isNamed {
                $0.lupine.tls.identityOrigins = Set(origins.map { .init(host: "good.test", port: $0.port) })
            }
        } _: { recorder in
            let url = "https://good.test:\(origins[0].port)/redirect-to?url=\(there)"
            let response = await recorder.session().request(url).serializingData().response
            #expect(response.response?.statusCode == 200, "\(response)")
        }
        let shown = origins.map { origin in
            (0..<origin.counts.connectionsAccepted).reduce(0) { sum, index in
                sum + origin.handshakes(on: index).reduce(0) { $0 + $1.clientCertificates.count }
            }
        }
        #expect(shown.map { $0 > 0 } == [true, isNamed])
        for origin in origins { await origin.shutdown() }
    }

    /// Trusts every server or none, and counts the evaluations.
    private final class Judge: ServerTrustEvaluating {
        private let trusts: Bool
        private let asked = Lock(0)

        init(_ trusts: Bool) { self.trusts = trusts }

        var count: Int { asked.withLock { $0 } }

        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            asked.withLock { $0 += 1 }
            if !trusts { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
        }
    }

    @Test("the session judges the servers", arguments: [false, true])
    func judgedServers(_ isTrusted: Bool) async throws {
        try await withOrigin(tls: .authority) { origin in
            origin.route("GET", "/", .text("welcome"))
            try await recording {
                $0.lupine.tls.roots = origin.configuration.lupine.tls.roots
            } _: { recorder in
                let judge = Judge(isTrusted)
                let session = Session(
                    configuration: recorder.configuration,
                    serverTrustManager: ServerTrustManager(
                        allHostsMustBeEvaluated: true, evaluators: [origin.url.host() ?? "": judge]))
                let response = await session.request(
                    origin.url, headers: [.authorization(bearerToken: "s3cr3t")]
                )
                .serializingString().response
                #expect(response.value == (isTrusted ? "welcome" : nil), "\(response)")
                #expect((response.error?.isServerTrustEvaluationError ?? false) != isTrusted, "\(response)")
                #expect(judge.count == 1)
            }
            #expect(origin.requests.count == (isTrusted ? 1 : 0))
        }
    }

    @Test("a session that trusts other authorities, or is somebody else, reaches no server")
    func otherSecurity() async throws {
        try await withOrigin(tls: .authority) { origin in
            origin.route("GET", "/", .text("welcome"))
            let identity = try TLSIdentity(
                pemChain: PKI.bytes("client-ecdsa-chain.pem"), pemKey: PKI.bytes("client-ecdsa.key"))
            try await recording {
                $0.lupine.tls.roots = origin.configuration.lupine.tls.roots
            } _: { recorder in
                for change: (inout URLSessionConfiguration.LupineOptions.TLS) -> Void in [
                    { $0.roots = .none }, { $0.identity = identity }, { _ in },
                ] {
                    let configuration = recorder.configuration
                    change(&configuration.lupine.tls)
                    let session = Session(configuration: configuration)
                    let response = await session.request(
                        origin.url, headers: [.authorization(bearerToken: "s3cr3t")]
                    )
                    .serializingString().response
                    let isSame = configuration.lupine.tls == recorder.configuration.lupine.tls
                    #expect(response.value == (isSame ? "welcome" : nil), "\(response)")
                    #expect(origin.requests.count == recorder.count && recorder.count == (isSame ? 1 : 0))
                }
            }
        }
    }

    @Test("a credential that a request brings is the one that is used")
    func broughtCredentials() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/user", Self.greeting)
            let storage = URLCredentialStorage()
            storage.setDefaultCredential(
                URLCredential(user: "service", password: "S", persistence: .forSession),
                for: Self.space(of: origin))
            try await recording {
                $0.urlCredentialStorage = storage
            } _: { recorder in
                let session = recorder.session()
                for name in ["service", "alice", "bob", "service", "alice"] {
                    let request = session.request(origin.url("/user"))
                    if name != "service" { request.authenticate(username: name, password: "P") }
                    let text = try await request.serializingString().value
                    #expect(text.hasPrefix(name + ":"), "\(text)")
                }
            }
        }
    }

    @Test("cookies are those of the session in front, as it keeps them")
    func cookies() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/") { request in
                .text(request.headers["Cookie"] ?? "none")
                    .header("Set-Cookie", "who=\(request.headers["X-Who"] ?? "")")
            }
            let shared = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
            try await recording {
                $0.httpCookieStorage = shared
            } _: { recorder in
                func session(_ configure: (URLSessionConfiguration) -> Void) -> Session {
                    let configuration = recorder.configuration
                    configure(configuration)
                    return Session(configuration: configuration)
                }
                func sent(_ session: Session, by name: String) async throws -> String {
                    try await session.request(origin.url("/"), headers: ["X-Who": name]).serializingString()
                        .value
                }
                let own = session {
                    $0.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage
                }
                let without = session { $0.httpCookieStorage = nil }
                let refusing = session { $0.httpCookieAcceptPolicy = .never }
                for (session, name, second) in [
                    (own, "alice", "who=alice"), (without, "bob", "none"), (refusing, "carol", "none"),
                ] {
                    for seen in ["none", second] {
                        let text = try await sent(session, by: name)
                        #expect(text == seen)
                    }
                }
                #expect(shared.cookies?.isEmpty ?? true)
                var text = try await sent(recorder.session(), by: "dave")
                #expect(text == "none" && shared.cookies?.map(\.value) == ["dave"])
                text = try await sent(own, by: "alice")
                #expect(text == "who=alice")
            }
        }
    }

    @Test("a cookie that came from a server nobody checked is for whoever left it unchecked")
    func uncheckedCookies() async throws {
        try await withOrigin(tls: .authority) { origin in
            origin.route("GET", "/") { request in
                .text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "id=1; Secure")
            }
            // The recorder does not trust the origin's root.
            try await recording { _ in
            } _: { recorder in
                let configuration = recorder.configuration
                let session = Session(
                    configuration: configuration,
                    serverTrustManager: ServerTrustManager(
                        allHostsMustBeEvaluated: true,
                        evaluators: [origin.url.host() ?? "": DisabledTrustEvaluator()]))
                for seen in ["none", "id=1"] {
                    let text = try await session.request(origin.url).serializingString().value
                    #expect(text == seen)
                }
                let storage = try #require(configuration.httpCookieStorage)
                #expect(storage.cookies?.count == 1)
                #expect(storage.cookies(for: origin.url)?.isEmpty ?? true)
            }
        }
    }

    @Test("a storage of names and passwords answers for the sessions that have it")
    func storedCredentials() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/user", Self.greeting)
            origin.route("GET", "/from", .redirect(to: "/user"))
            func storage(_ name: String) -> URLCredentialStorage {
                let storage = URLCredentialStorage()
                storage.setDefaultCredential(
                    URLCredential(user: name, password: "S", persistence: .forSession),
                    for: Self.space(of: origin))
                return storage
            }
            try await recording {
                $0.urlCredentialStorage = storage("service")
            } _: { recorder in
                for name in ["alice", nil, "bob", "alice"] {
                    let configuration = recorder.configuration
                    configuration.urlCredentialStorage = name.map(storage)
                    let session = Session(configuration: configuration)
                    for _ in 0..<2 {
                        let response = await session.request(origin.url("/user"))
                            .serializingString(emptyResponseCodes: [401]).response
                        #expect(response.value == (name.map { $0 + ":S" } ?? ""), "\(response)")
                        #expect(response.response?.statusCode == (name == nil ? 401 : 200))
                    }
                }
                // A request with a user in its URL does not use the session's credential after a redirect either.
                var named = try #require(
                    URLComponents(url: origin.url("/from"), resolvingAgainstBaseURL: true))
                (named.user, named.password) = ("eve", "E")
                let session = recorder.session()
                for url in [try #require(named.url), origin.url("/from")] {
                    let text = try await session.request(url).serializingString(emptyResponseCodes: [401])
                        .value
                    #expect(text == (url.user() == nil ? "service:S" : ""))
                }
            }
        }
    }

    /// Responds with the credential of the request; 401 without one.
    private static let greeting: @Sendable (TestRequest) async -> TestResponse = { request in
        guard let given = request.headers["Authorization"] else {
            return .status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
        }
        let octets = Data(base64Encoded: String(given.dropFirst("Basic ".count))) ?? Data()
        return .text(String(decoding: octets, as: UTF8.self))
    }

    private static func space(of origin: TestOrigin) -> URLProtectionSpace {
        URLProtectionSpace(
            host: origin.url.host() ?? "", port: origin.url.port ?? 0, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    }
}
