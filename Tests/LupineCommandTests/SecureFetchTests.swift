// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests of the command over TLS: roots, pins, client certificates.
struct SecureFetchTests {
    /// Calls `body` with a shell, an origin with TLS, and the identity of the origin; its certificate is in `root.pem`.
    private func withSecureOrigin(
        _ tls: TLSServerConfiguration? = nil,
        _ body: (Shell, LupineOrigin.Origin, TLSIdentity) async throws -> Void
    ) async throws {
        let identity = try EphemeralIdentity.make()
        var configuration = OriginConfiguration()
        configuration.tls = tls ?? TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        try await withShell(configuration) { shell, origin in
            let lines = Data(identity.certificate.der).base64EncodedString(options: .lineLength64Characters)
            try shell.write(
                "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n", to: "root.pem")
            try await body(shell, origin, identity)
        }
    }

    @Test func anUntrustedServerIsRefusedWithAdvice() async throws {
        try await withSecureOrigin { shell, origin, _ in
            let result = await shell.run("https://localhost:\(origin.port)/tls")
            #expect(result.code == ExitCode.untrusted.rawValue)
            for text in ["localhost", "not trusted", "--cacert", "-k"] {
                #expect(result.errors.contains(text))
            }
            #expect(origin.counts.requests == 0)
        }
    }

    @Test func rootsAndInsecureAllowTheConnection() async throws {
        try await withSecureOrigin { shell, origin, _ in
            #expect(await shell.run("--cacert root.pem https://localhost:\(origin.port)/tls").code == 0)
            #expect(await shell.run("-k https://localhost:\(origin.port)/tls").code == 0)
            let shown = await shell.run("-v -k https://localhost:\(origin.port)/tls")
            #expect(shown.errors.contains("TLS 1.3"))
        }
    }

    @Test func pinsDecide() async throws {
        try await withSecureOrigin { shell, origin, identity in
            let pin = try #require(identity.certificate.publicKey?.pin.description)
            let url = "https://localhost:\(origin.port)/tls"
            #expect(await shell.run("-k --pin \(pin) \(url)").code == 0)
            #expect(
                await shell.run(
                    "--cacert root.pem --pin \(pin.replacing("sha256/", with: "sha256//")) \(url)"
                ).code == 0)
            let requests = origin.counts.requests
            let other = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            let refused = await shell.run("-k --pin \(other) \(url)")
            #expect(refused.code == ExitCode.pin.rawValue)
            #expect(refused.errors.contains(pin) && refused.errors.contains(other))
            #expect(origin.counts.requests == requests)
        }
    }

    @Test func certificatesAreListedAlsoWhenTheyAreNotTrusted() async throws {
        try await withSecureOrigin { shell, origin, identity in
            let pin = try #require(identity.certificate.publicKey?.pin.description)
            let result = await shell.run("--certs https://localhost:\(origin.port)/tls")
            #expect(result.code == ExitCode.untrusted.rawValue)
            #expect(result.errors.contains("--pin \(pin)") && result.errors.contains("valid"))
        }
    }

    @Test func aClientCertificateIsShown() async throws {
        let identity = try TLSIdentity(pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key"))
        var tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        tls.clientCertificates = .required(
            roots: try Certificate.bundle(file: PKI.path("client-root.pem")))
        try await withSecureOrigin(tls) { shell, origin, _ in
            let url = "https://localhost:\(origin.port)/tls"
            let without = await shell.run("-k \(url)")
            #expect(without.code == ExitCode.clientCertificate.rawValue, "\(without.errors)")
            let (chain, key) = (PKI.path("client-ecdsa-chain.pem"), PKI.path("client-ecdsa.key"))
            let with = await shell.run("-k --cert \(chain) --key \(key) \(url)")
            #expect(with.code == 0, "\(with.errors)")
        }
    }
}
