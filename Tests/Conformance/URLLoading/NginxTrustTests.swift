// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import LupineTransport
import Testing

/// Sessions with nginx over TLS: server trust and client certificates.
@Suite struct NginxTrustTests {
    /// Answers challenges for server trust and for client certificates.
    private final class Answering: NSObject, URLSessionDelegate {
        let asked = Lock<[String]>([])
        private let trusts: Bool
        private let identity: URLCredential?

        init(trusts: Bool, identity: URLCredential? = nil) {
            self.trusts = trusts
            self.identity = identity
        }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            asked.withLock { $0.append(space.authenticationMethod) }
            if let trust = space.serverTrust, trusts {
                completionHandler(.useCredential, URLCredential(trust: trust))
            } else if space.serverTrust != nil {
                completionHandler(.cancelAuthenticationChallenge, nil)
            } else {
                completionHandler(.useCredential, identity)
            }
        }
    }

    /// Runs `body` with a session and the URL of an nginx whose certificate the system does not trust.
    private func converse(
        _ delegate: Answering, directives: String = "", _ body: (URLSession, URL) async throws -> Void
    ) async throws {
        let host = NginxTLSServer.Host(address: 1, leaf: "good", directives: directives)
        try await ServerProcess.with(NginxTLSServer(hosts: [host])) { nginx in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            let port = nginx.place.port
            configuration.lupine.addressOverrides[.init(host: "good.test", port: port)] = [
                .ipv4(.loopback, port: port)
            ]
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            try await body(session, try #require(URL(string: "https://good.test:\(port)/")))
        }
    }

    @Test("the delegate accepts a server that nobody knows", .timeLimit(.minutes(10)))
    func accepted() async throws {
        let delegate = Answering(trusts: true)
        try await converse(delegate) { session, url in
            for _ in 0..<2 {
                let (data, _) = try await session.data(from: url)
                #expect(String(decoding: data, as: UTF8.self).contains(" good.test "))
            }
            // [U-9.17] The connection is reused, and no second challenge is sent.
            #expect(delegate.asked.withLock { $0 } == [NSURLAuthenticationMethodServerTrust])
        }
    }

    @Test("the delegate refuses it", .timeLimit(.minutes(10)))
    func refused() async throws {
        let delegate = Answering(trusts: false)
        try await converse(delegate) { session, url in
            let error = await #expect(throws: URLError.self) { _ = try await session.data(from: url) }
            #expect(error?.code == .cancelled)
            #expect(delegate.asked.withLock { $0 } == [NSURLAuthenticationMethodServerTrust])
        }
    }

    @Test(
        "[U-11.20] an identity of a PKCS#12 file is shown to nginx when it asks", .timeLimit(.minutes(10)),
        arguments: ["client-ecdsa-chain", "client-rsa"])
    func identity(_ name: String) async throws {
        let file = Data(try PKI.bytes("\(name).p12"))
        var items: CFArray?
        let status = SecPKCS12Import(file, [kSecImportExportPassphrase: "lupine"], &items)
        #expect(status == errSecSuccess)
        let item = try #require(items?.first as? [String: Any])
        let own = try #require(item[kSecImportItemIdentity] as? SecIdentity)
        let chain = item[kSecImportItemCertChain] as? [SecCertificate] ?? []
        let delegate = Answering(
            trusts: true,
            identity: URLCredential(
                identity: own, certificates: Array(chain.dropFirst()), persistence: .forSession))
        let directives = """
            ssl_client_certificate \(PKI.path("client-root.pem"));
            ssl_verify_client optional_no_ca;
            ssl_verify_depth 3;
            """
        try await converse(delegate, directives: directives) { session, url in
            let (data, _) = try await session.data(from: url)
            let page = String(decoding: data, as: UTF8.self)
            #expect(page.contains(name.hasPrefix("client-rsa") ? "client-rsa" : "client-ecdsa"), "\(page)")
            #expect(
                delegate.asked.withLock { Set($0) } == [
                    NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
                ])
        }
    }
}
