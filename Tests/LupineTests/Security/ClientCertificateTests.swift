// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Synchronization
import Testing

@testable import Lupine

/// Client certificates: the server requests one, and the challenge is answered with an identity. Through a session, over both
/// versions of TLS, with a server that requires a certificate and with one that does not.
@Suite struct ClientCertificateTests {
    /// The source of the identity.
    private enum IdentitySource: CaseIterable {
        /// `authenticate(with:)` of the request.
        case request
        /// The configuration's storage, as the default of the protection space.
        case storage
        /// An override of a delegate method, which answers the challenge.
        case delegate
    }

    /// Answers the challenge for a client certificate with the credential from `choose`, and leaves others to the superclass.
    private final class IdentityDelegate: SessionDelegate, @unchecked Sendable {
        private let choose: @Sendable (URLSessionTask) -> URLCredential?

        init(_ choose: @escaping @Sendable (URLSessionTask) -> URLCredential?) {
            self.choose = choose
            super.init()
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
            else {
                return super.urlSession(
                    session, task: task, didReceive: challenge, completionHandler: completionHandler)
            }
            completionHandler(.useCredential, choose(task))
        }
    }

    /// The certificate that a server received, and the result of the request.
    private struct Outcome: Equatable {
        var status: Int?
        var code: URLError.Code?
        /// Whether the client of the first connection presented the expected certificate.
        var wasPresented = false

        static let served = Outcome(status: 200, wasPresented: true)
        static let servedUnknown = Outcome(status: 200)

        static func refused(_ code: URLError.Code, shown: Bool = false) -> Outcome {
            Outcome(code: code, wasPresented: shown)
        }
    }

    /// Returns a credential with an identity of the fixtures: the certificate, with its intermediates as the chain.
    private static func credential(_ name: String) throws -> URLCredential {
        let identity = try SecIdentity(pemChain: PKI.text("\(name).pem"), pemKey: PKI.text("\(name).key"))
        let chain = try TrustFixture.certificates("\(name)-chain")
        return URLCredential(
            identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
    }

    private static func setUp(_ version: TLSVersion, requiresCertificate: Bool) throws -> PipelineSetUp {
        let roots = try Certificate.pem(PKI.text("client-root.pem"))
        var setUp = PipelineSetUp(leaf: "good")
        setUp.secure = { tls in
            tls.clientCertificates = requiresCertificate ? .required(roots: roots) : .requested(roots: roots)
            (tls.minimumVersion, tls.maximumVersion) = (version, version)
        }
        return setUp
    }

    /// Performs one request with the identity that `source` supplies.
    private static func performRequest(
        _ name: String?, _ source: IdentitySource, _ version: TLSVersion, requiresCertificate: Bool
    ) async throws -> Outcome {
        let credential = try name.map(Self.credential)
        var setUp = try Self.setUp(version, requiresCertificate: requiresCertificate)
        let storage = URLCredentialStorage()
        setUp.configure = { $0.urlCredentialStorage = storage }
        switch source {
        case .request, .storage: break
        case .delegate: setUp.delegate = IdentityDelegate { _ in credential }
        }
        var outcome = Outcome()
        try await withPipeline(setUp) { stage in
            if source == .storage, let credential {
                storage.setDefaultCredential(
                    credential,
                    for: URLProtectionSpace(
                        host: "good.test", port: Int(stage.origin.port), protocol: "https", realm: nil,
                        authenticationMethod: NSURLAuthenticationMethodClientCertificate))
            }
            let request = stage.session.request(
                stage.url(host: "good.test"))
            if source == .request, let credential { request.authenticate(with: credential) }
            let response = await request.answered()
            outcome.status = response.response?.statusCode
            outcome.code = (response.error?.underlyingError as? URLError)?.code
            let shown = await stage.origin.handshake(on: 0)?.clientCertificates.first
            outcome.wasPresented =
                try name.map { try shown == Certificate.pem(PKI.text("\($0).pem")).first } ?? false
            #expect(name != nil || shown == nil)
        }
        return outcome
    }

    @Test(
        "[D-1] the storage's identity is not used for requests with a credential, nor for redirects",
        arguments: [TLSVersion.v1_2, .v1_3], [false, true])
    func storedIdentity(_ version: TLSVersion, isRedirected: Bool) async throws {
        for testedHTTP in TestedHTTP.allCases {
            var setUp = try Self.setUp(version, requiresCertificate: false)
            let storage = URLCredentialStorage()
            setUp.configure = { $0.urlCredentialStorage = storage }
            try await withPipeline(setUp, over: testedHTTP) { stage in
                storage.setDefaultCredential(
                    try Self.credential("client-rsa"),
                    for: URLProtectionSpace(
                        host: "good.test", port: Int(stage.origin.port), protocol: "https", realm: nil,
                        authenticationMethod: NSURLAuthenticationMethodClientCertificate))
                var serving = OriginConfiguration()
                serving.enable(testedHTTP)
                let elsewhere = try LupineOrigin.Origin.start(configuration: serving)
                let target = stage.url(host: "good.test")
                elsewhere.answer(
                    "GET", "/away",
                    ScriptPlan(
                        .send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"),
                        .close))
                let request =
                    isRedirected
                    ? stage.session.request(elsewhere.url + "/away")
                    : stage.session.request(target).authenticate(username: "alice", password: "p")
                #expect(await request.answered().response?.statusCode == 200)
                #expect(await stage.origin.handshake(on: 0)?.clientCertificates.isEmpty == true)
                await elsewhere.shutdown()
            }
        }
    }

    @Test(
        "[I-8.1] the server accepts the identity from each source that can answer the challenge",
        arguments: [TLSVersion.v1_2, .v1_3])
    func accepted(_ version: TLSVersion) async throws {
        for source in IdentitySource.allCases {
            for name in ["client-rsa", "client-ecdsa"] {
                for requiresCertificate in [true, false] {
                    let outcome = try await Self.performRequest(
                        name, source, version, requiresCertificate: requiresCertificate)
                    #expect(
                        outcome == .served, "\(name), \(source), requiresCertificate: \(requiresCertificate)")
                }
            }
        }
    }

    @Test(
        "a client without an identity is refused only if the server requires one",
        arguments: [TLSVersion.v1_2, .v1_3])
    func without(_ version: TLSVersion) async throws {
        for source in IdentitySource.allCases {
            let refused = try await Self.performRequest(nil, source, version, requiresCertificate: true)
            #expect(refused == .refused(.clientCertificateRequired), "\(source)")
            #expect(
                try await Self.performRequest(nil, source, version, requiresCertificate: false)
                    == .servedUnknown, "\(source)")
        }
    }

    @Test(
        "an untrusted identity is rejected, even if the server requires none",
        arguments: [TLSVersion.v1_2, .v1_3])
    func wrong(_ version: TLSVersion) async throws {
        for source in IdentitySource.allCases {
            for requiresCertificate in [true, false] {
                let outcome = try await Self.performRequest(
                    "client-untrusted", source, version, requiresCertificate: requiresCertificate)
                #expect(
                    outcome.code == .clientCertificateRejected && outcome.status == nil,
                    "\(source), \(requiresCertificate)")
            }
        }
    }

    @Test(
        "[I-8.1] a name and a password are not an identity: the server receives no certificate",
        arguments: TestedHTTP.allCases)
    func password(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(.v1_3, requiresCertificate: true), over: testedHTTP) { stage in
            let request = stage.session.request(
                stage.url(host: "good.test")
            ).authenticate(username: "user", password: "password")
            let error = await request.answered().error
            #expect((error?.underlyingError as? URLError)?.code == .clientCertificateRequired)
            #expect(error?.isSessionTaskError == true)
        }
    }

    @Test(
        "monitors receive the challenge, which names the issuers that the server trusts",
        arguments: [TLSVersion.v1_2, .v1_3], TestedHTTP.allCases)
    func challenge(_ version: TLSVersion, over testedHTTP: TestedHTTP) async throws {
        let asked = ValueLog<URLProtectionSpace>()
        let monitor = ClosureEventMonitor()
        monitor.taskDidReceiveChallenge = { _, _, challenge in asked.add(challenge.protectionSpace) }
        var setUp = try Self.setUp(version, requiresCertificate: true)
        setUp.monitors = [monitor]
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let request = stage.session.request(
                stage.url(host: "good.test")
            ).authenticate(with: try Self.credential("client-rsa"))
            let response = await request.serializingData().response
            #expect(response.response?.statusCode == 200)
            await asked.wait(for: 2)
        }
        let spaces = asked.all
        #expect(
            spaces.map(\.authenticationMethod) == [
                NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
            ])
        let issuer = try #require(try Certificate.pem(PKI.text("client-root.pem")).first).subject
        #expect(spaces.last?.distinguishedNames == [Data(issuer.der)])
        #expect(spaces.last?.host == "good.test" && spaces.last?.serverTrust == nil)
    }

    @Test(
        "[U-11.20] a connection with an identity is not shared while its task is suspended",
        arguments: TestedHTTP.allCases)
    func suspended(over testedHTTP: TestedHTTP) async throws {
        let rsa = try #require(try Certificate.pem(PKI.text("client-rsa.pem")).first)
        var setUp = try Self.setUp(.v1_3, requiresCertificate: false)
        let credential = Protected<URLCredential?>(try Self.credential("client-rsa"))
        // The first task presents an identity, and is suspended meanwhile; later tasks present none.
        setUp.delegate = IdentityDelegate { task in
            let shown = credential.write { credential in
                defer { credential = nil }
                return credential
            }
            if shown != nil { task.suspend() }
            return shown
        }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let who = ValueLog<Certificate?>()
            stage.origin.route("GET", "/who") { request throws(Refusal) in
                who.add(request.tls?.clientCertificates.first)
                return OriginResponse(200)
            }
            let held = stage.session.request(stage.url("/who", host: "good.test"))
            held.resume()
            #expect(await stage.origin.handshake(on: 0)?.clientCertificates.first == rsa)
            for _ in 0..<5 {
                _ = await stage.session.request(stage.url("/who", host: "good.test")).answered()
            }
            #expect(who.all == [nil, nil, nil, nil, nil])
            held.cancel()
            _ = await held.answered()
        }
    }

    @Test(
        "[I-8.3] the identity survives retries, and each request has its own", arguments: TestedHTTP.allCases)
    func requestsApart(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(.v1_3, requiresCertificate: false), over: testedHTTP) { stage in
            let who = ValueLog<Certificate?>()
            stage.origin.route("GET", "/who") { request throws(Refusal) in
                who.add(request.tls?.clientCertificates.first)
                return OriginResponse(who.all.count == 1 ? 503 : 200)
            }
            let names = ["client-rsa", "client-ecdsa"]
            for name in names {
                let request = stage.session.request(
                    stage.url("/who", host: "good.test"),
                    interceptor: RetryPolicy(exponentialBackoffScale: 0.001)
                ).authenticate(with: try Self.credential(name)).validate()
                let response = await request.serializingData(emptyResponseCodes: [200]).response
                #expect(
                    response.response?.statusCode == 200 && request.retryCount == (name == names[0] ? 1 : 0))
            }
            let certificates = try ["client-rsa", "client-rsa", "client-ecdsa"].map {
                try Certificate.pem(PKI.text("\($0).pem")).first
            }
            #expect(who.all == certificates)
            // A request without an identity presents none, although connections with an identity are open.
            _ = await stage.session.request(stage.url("/who", host: "good.test")).answered()
            #expect(who.all.last == .some(nil))
        }
    }
}
