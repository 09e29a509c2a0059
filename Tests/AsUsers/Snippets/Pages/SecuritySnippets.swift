// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

/// The snippets of `Security.md`, Swift and shell, run against an origin with the certificate of the fixtures.
@Suite(.timeLimit(.minutes(10))) struct SecuritySnippets {
    @Test func pins() async throws {
        let authority = PKI.path("root.pem")
        let current = try #require(try pin(of: "good.pem"))
        let host = "127.0.0.1"
        try await API.serve(isSecure: true) { api in
            let configuration = URLSessionConfiguration.af.default
            // For a server with an authority of its own; the system's are the default.
            configuration.lupine.tls.roots = .certificates(try Certificate.bundle(file: authority))
            let manager = ServerTrustManager(evaluators: [
                host: try PublicKeyPinsTrustEvaluator(pins: [
                    current, "sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=",
                ])
            ])
            let session = Session(configuration: configuration, serverTrustManager: manager)
            let response = await session.request("\(api)/get").serializingData().response
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test func aReport() async throws {
        let root = PKI.path("root.pem")
        try await API.serve(isSecure: true) { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.tls.roots = .certificates(try Certificate.bundle(file: root))
            let manager = ServerTrustManager(evaluators: [
                "127.0.0.1": try PublicKeyPinsTrustEvaluator(pins: [
                    "sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="
                ])
            ])
            let session = Session(configuration: configuration, serverTrustManager: manager)
            let response = await session.request("\(api)/get").serializingData().response
            if let report = response.error?.pinningReport {
                print(report)
                print(report.presented.compactMap(\.pin))
            }
            let expected = try pin(of: "good.pem")
            #expect(response.error?.pinningReport?.presented.first?.pin == expected)
        }
    }

    @Test func evaluators() throws {
        let certificates = try SecCertificate.certificates(file: PKI.path("root.pem"))
        let manager = ServerTrustManager(
            allHostsMustBeEvaluated: false,
            evaluators: [
                "api.example.com": PinnedCertificatesTrustEvaluator(certificates: certificates),
                "login.example.com": CompositeTrustEvaluator(evaluators: [
                    DefaultTrustEvaluator(), RevocationTrustEvaluator(options: [.ocsp]),
                ]),
            ])
        #expect(try manager.serverTrustEvaluator(forHost: "login.example.com") is CompositeTrustEvaluator)
        #expect(try manager.serverTrustEvaluator(forHost: "other.example.com") == nil)
    }

    @Test func identities() async throws {
        let certificate = try PKI.text("client-ecdsa-chain.pem")
        let key = try PKI.text("client-ecdsa.key")
        let roots = try Certificate.bundle(file: PKI.path("client-root.pem"))
        try await API.serve(isSecure: true, clientRoots: roots) { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.tls.roots = .certificates(try Certificate.bundle(file: PKI.path("root.pem")))
            let session = Session(configuration: configuration)
            let identity = try SecIdentity(pemChain: certificate, pemKey: key)
            let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)
            let response = await session.request("\(api)/tls")
                .authenticate(with: credential)
                .serializingString()
                .response
            #expect(response.value?.contains("client-certificate\": {") == true, "\(response)")
        }
    }

    @Test func certificatesOfAFolder() async throws {
        try await inFolder { folder in
            try Data(PKI.bytes("root.pem")).write(to: folder.appending(path: "root.pem"))
            let pinned = try SecCertificate.af.certificates(at: folder)
            let manager = ServerTrustManager(evaluators: [
                "api.example.com": PinnedCertificatesTrustEvaluator(certificates: pinned),
                "cdn.example.com": PublicKeysTrustEvaluator(keys: pinned.af.publicKeys),
            ])
            #expect(pinned.count == 1)
            #expect(try manager.serverTrustEvaluator(forHost: "api.example.com") != nil)
        }
    }

    @Test func rootsOfAFile() async throws {
        let file = PKI.path("root.pem")
        try await API.serve(isSecure: true) { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.tls.roots = TrustRoots(includesSystem: true, files: [file])
            let session = Session(configuration: configuration)
            #expect(await session.request("\(api)/get").serializingData().response.error == nil)
        }
    }

    @Test func rootsOfAText() async throws {
        let text = try PKI.text("root.pem")
        try await API.serve(isSecure: true) { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.tls.roots = .certificates(try Certificate.pem(text))
            let session = Session(configuration: configuration)
            #expect(await session.request("\(api)/get").serializingData().response.error == nil)
        }
    }

    @Test func anIdentityOfText() throws {
        let (chain, key) = (try PKI.text("client-ecdsa-chain.pem"), try PKI.text("client-ecdsa.key"))
        let configuration = URLSessionConfiguration.af.default
        configuration.lupine.tls.identity = try TLSIdentity(pemChain: chain, pemKey: key, password: nil)
        #expect(configuration.lupine.tls.identity != nil)
    }

    @Test func anIdentityOfPKCS12() throws {
        let (data, password) = (Data(try PKI.bytes("client-ecdsa.p12")), PKI.password)
        let configuration = URLSessionConfiguration.af.default
        configuration.lupine.tls.identity = try TLSIdentity(pkcs12: [UInt8](data), password: password)
        #expect(configuration.lupine.tls.identity != nil)
    }

    @Test func transport() throws {
        var configuration = HTTPClient.Configuration()
        configuration.trust = .pinnedKeys([
            try PublicKeyPin("sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=")
        ])
        let client = HTTPClient(configuration: configuration)
        #expect(client.connectionsOpened == 0)
    }

    /// Runs the page's shell recipes without changes, in a folder with the files that they name.
    @Test func theShellLinesGiveThePinsThatLupineTakes() async throws {
        let recipes = try Page("Security.md").blocks("sh")
        #expect(recipes.count >= 3)
        try await API.serve(isSecure: true) { api in
            try await inFolder { folder in
                for name in ["good.pem", "good.key"] {
                    let target = name.replacing("good", with: "server")
                    try Data(PKI.bytes(name)).write(to: folder.appending(path: target))
                }
                let expected = try #require(try pin(of: "good.pem"))
                for (number, recipe) in recipes.enumerated() {
                    let script = folder.appending(path: "recipe.sh")
                    let text = recipe.joined(separator: "\n")
                        .replacing("api.example.com:443", with: "127.0.0.1:\(api.origin.port)")
                        .replacing("api.example.com", with: "localhost")
                    try Data(
                        "cd '\(folder.path)'\n{ \(text)\n} >output\(number) 2>/dev/null </dev/null\n".utf8
                    )
                    .write(to: script)
                    let end = try await Program.run("bash", [script.path])
                    #expect(end == .exited(0), "\(text)")
                    let output = try String(
                        contentsOf: folder.appending(path: "output\(number)"), encoding: .utf8
                    )
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                    #expect("sha256/\(output)" == expected, "\(text)")
                }
            }
        }
    }

    private func pin(of file: String) throws -> String? {
        try Certificate.pem(PKI.text(file)).first?.publicKey.map { "\($0.pin)" }
    }
}
