// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport

/// The demo's part about TLS: the same client over https, whom it trusts, and what a refusal reads like.
///
/// The certificates are the test PKI's; its root is known to nobody else.
struct SecureAct {
    private let origin: LupineOrigin.Origin
    private let root: [Certificate]

    init() throws {
        let identity = try TLSIdentity(pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key"))
        var configuration = OriginConfiguration()
        configuration.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        origin = try LupineOrigin.Origin.start(configuration: configuration)
        root = try Certificate.bundle(file: PKI.path("root.pem"))
    }

    func run() async throws {
        print("Another origin answers at \(origin.url)\n")
        try await trusted()
        try await refused("its root is none of the system's") { $0.tls.roots = .system }
        try await refused("another key is pinned") { configuration in
            configuration.trust = .pinnedKeys([try PublicKeyPin(PKIEntry.named("second").pin)])
        }
        await origin.shutdown()
    }

    private func client(
        _ change: (inout HTTPClient.Configuration) throws -> Void = { _ in }
    ) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.tls.roots = .certificates(root)
        try change(&configuration)
        return HTTPClient(configuration: configuration)
    }

    private func trusted() async throws {
        print("GET /tls: the root is trusted, the leaf's key is pinned")
        let client = try client { configuration in
            configuration.trust = .pinnedKeys([try PublicKeyPin(PKIEntry.named("good").pin)])
        }
        let response = try await client.get(origin.url + "/tls")
        _ = try await response.body.text()
        await client.shutdown()
        guard response.status.code == 200, let metrics = response.body.metrics,
            let version = metrics.tlsVersion, let cipher = metrics.tlsCipherSuite
        else { throw DemoError(what: "an answer over TLS says over what") }
        print("  \(response.status), \(version), \(cipher)\n")
    }

    private func refused(
        _ why: String, _ change: (inout HTTPClient.Configuration) throws -> Void
    ) async throws {
        print("GET /tls: \(why)")
        let client = try client(change)
        do throws(TransportError) {
            _ = try await client.get(origin.url + "/tls")
        } catch {
            print("  \(error)\n")
            await client.shutdown()
            guard case .tls = error, origin.counts.requests == 1 else {
                throw DemoError(what: "whoever is not trusted hears of no request")
            }
            return
        }
        throw DemoError(what: "whoever is not trusted is refused")
    }
}
