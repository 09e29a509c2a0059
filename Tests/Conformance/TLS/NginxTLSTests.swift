// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// nginx's view of the client's connections: version, server name, resumption, identity, stapling.
@Suite struct NginxTLSTests {
    /// The page of `NginxTLSServer`, parsed.
    private struct Page {
        let version: String
        let cipher: String
        let serverName: String
        let isResumed: Bool
        let subject: String

        init(_ text: String) throws {
            let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
            try #require(words.count == 5, "a page with \(text)")
            version = String(words[0])
            cipher = String(words[1])
            serverName = String(words[2])
            isResumed = words[3] == "r"
            subject = String(words[4])
        }
    }

    /// Runs `body` with nginx presenting `leaf` under one name, and a client configuration that trusts it.
    private func converse(
        protocols: String = "TLSv1.2 TLSv1.3", directives: String = "", staple: String? = nil,
        leaf: String = "good", _ body: (HTTPClient.Configuration, String) async throws -> Void
    ) async throws {
        let hosts = [NginxTLSServer.Host(address: 1, leaf: leaf, staple: staple, directives: directives)]
        try await ServerProcess.with(NginxTLSServer(hosts: hosts, protocols: protocols)) { nginx in
            var configuration = HTTPClient.Configuration()
            configuration.tls.roots = TrustRoots(
                includesSystem: false, certificates: try Certificate.pem(PKI.text("root.pem")))
            configuration.timeout = .seconds(50)
            let address = SocketAddress.ipv4(.loopback, port: nginx.place.port)
            configuration.overrides[.init(host: "\(leaf).test", port: nginx.place.port)] = [address]
            try await body(configuration, "https://\(leaf).test:\(nginx.place.port)/")
        }
    }

    private func page(_ client: HTTPClient, _ url: String) async throws -> Page {
        let response = try await client.get(url)
        try #require(response.status.code == 200)
        return try Page(try await response.body.text())
    }

    /// Returns the error of a request; nil if it succeeded.
    private func refusal(of client: HTTPClient, _ url: String) async -> TransportError? {
        do throws(TransportError) {
            _ = try await client.get(url).body.collect()
            return nil
        } catch { return error }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [("TLSv1.2", TLSVersion.v1_2), ("TLSv1.3", .v1_3)])
    func bothSidesAgreeOnTheVersion(_ name: String, _ version: TLSVersion) async throws {
        try await converse(protocols: name) { configuration, url in
            let client = HTTPClient(configuration: configuration)
            let response = try await client.get(url)
            let page = try Page(try await response.body.text())
            let metrics = response.body.metrics
            await client.shutdown()
            try #require(page.version == name)
            try #require(page.serverName == "good.test")
            try #require(metrics?.tlsVersion == version)
            // Before TLS 1.3, OpenSSL's cipher names differ from the registered ones.
            let cipher = ["ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"]
            try #require(metrics?.tlsCipherSuite == cipher[page.cipher, default: page.cipher])
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["TLSv1.2", "TLSv1.3"])
    func newConnectionsResumeTheOldOnesSession(_ version: String) async throws {
        try await converse(protocols: version, directives: "keepalive_requests 1;") { configuration, url in
            let client = HTTPClient(configuration: configuration)
            var resumed: [Bool] = []
            for _ in 0..<10 { resumed.append(try await page(client, url).isResumed) }
            await client.shutdown()
            try #require(client.connectionsOpened == 10)
            try #require(resumed == [false] + Array(repeating: true, count: 9))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func noSessionIsResumedWhereThatIsSwitchedOff() async throws {
        try await converse(directives: "keepalive_requests 1;") { configuration, url in
            var configuration = configuration
            configuration.tls.resumesSessions = false
            let client = HTTPClient(configuration: configuration)
            for _ in 0..<3 { try #require(try await page(client, url).isResumed == false) }
            await client.shutdown()
        }
    }

    /// Requests an identity issued below the client root.
    private static let verifying = """
        ssl_client_certificate \(PKI.path("client-root.pem"));
        ssl_verify_client optional_no_ca;
        ssl_verify_depth 3;
        """

    @Test(
        .timeLimit(.minutes(10)), arguments: ["client-rsa", "client-ecdsa"], ["TLSv1.2", "TLSv1.3"])
    func ourIdentityArrives(_ identity: String, _ version: String) async throws {
        try await converse(protocols: version, directives: Self.verifying) { configuration, url in
            var configuration = configuration
            configuration.tls.identity = try TLSIdentity(
                pemChain: PKI.text("\(identity)-chain.pem"), pemKey: PKI.text("\(identity).key"))
            let client = HTTPClient(configuration: configuration)
            let page = try await page(client, url)
            await client.shutdown()
            try #require(page.subject.contains(identity))
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["TLSv1.2", "TLSv1.3"])
    func withoutAnIdentityNoneIsSent(_ version: String) async throws {
        try await converse(protocols: version, directives: Self.verifying) { configuration, url in
            let client = HTTPClient(configuration: configuration)
            let page = try await page(client, url)
            await client.shutdown()
            try #require(page.subject.isEmpty)
        }
    }

    /// Leaves, the OCSP responses that nginx staples, and whether the leaf is refused as revoked.
    private static let staples = [
        ("good-ocsp", "good", false), ("revoked-ocsp", "revoked", true),
        ("revoked-ocsp", "revoked-delegated", true),
        ("good-ocsp", "other-serial", false), ("good-ocsp", "wrong-key", false),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: ["TLSv1.2", "TLSv1.3"])
    func aStapledAnswerIsJudged(_ version: String) async throws {
        for (leaf, staple, isRevoked) in Self.staples {
            try await converse(protocols: version, staple: staple, leaf: leaf) { configuration, url in
                var configuration = configuration
                configuration.trust = .revocation([.ocsp, .networkAccessDisabled])
                let client = HTTPClient(configuration: configuration)
                let refusal = await refusal(of: client, url)
                await client.shutdown()
                switch (isRevoked, refusal) {
                case (false, nil), (true, .tls(_, _, .untrusted(.revoked))?): break
                default: throw RowFailure("\(leaf) with \(staple): \(String(describing: refusal))")
                }
            }
        }
    }

    /// The leaf's OCSP response is stapled; the intermediate's status cannot be fetched, because network access is disabled.
    @Test(.timeLimit(.minutes(10)))
    func anAnswerThatIsRequiredMustBeThereForTheWholeChain() async throws {
        try await converse(staple: "good", leaf: "good-ocsp") { configuration, url in
            var configuration = configuration
            configuration.trust = .revocation([.ocsp, .requirePositiveResponse, .networkAccessDisabled])
            let client = HTTPClient(configuration: configuration)
            let refusal = await refusal(of: client, url)
            await client.shutdown()
            guard case .tls(_, _, .untrusted(.revocationUnknown(let subject, _)))? = refusal else {
                throw RowFailure(String(describing: refusal))
            }
            try #require(subject.contains("Lupine intermediate"))
        }
    }
}
