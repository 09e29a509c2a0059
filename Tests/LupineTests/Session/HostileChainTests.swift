// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import Lupine

/// Redirects to another origin, and back.
@Suite(.timeLimit(.minutes(10))) struct HostileChainTests {
    typealias Credentials = HostileCredentialTests

    /// Makes the origin respond to a path with a redirect to `location`.
    private static func redirect(_ path: String, on origin: LupineOrigin.Origin, to location: String) {
        origin.route("GET", path) { _ throws(Refusal) in
            var response = OriginResponse(302)
            try response.add("Location", location)
            return response
        }
    }

    @Test(
        "[U-10.5, I-8.1] an identity is not used after a redirect to another origin, even if one leads back",
        arguments: TestedHTTP.allCases
    )
    func identity(over testedHTTP: TestedHTTP) async throws {
        let elsewhere = try PipelineSetUp(testedHTTP: testedHTTP).makeOrigin()
        var setUp = PipelineSetUp(leaf: "good")
        let roots = try Certificate.pem(PKI.text("client-root.pem"))
        setUp.secure = { $0.clientCertificates = .requested(roots: roots) }
        let identity = try SecIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        let chain = try TrustFixture.certificates("client-rsa-chain")
        let credential = URLCredential(
            identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
        try await withPipeline(setUp, over: testedHTTP) { stage in
            Self.redirect("/out", on: stage.origin, to: elsewhere.url + "/back")
            Self.redirect("/back", on: elsewhere, to: stage.url("/get", host: "good.test"))
            let response = await stage.session.request(stage.url("/out", host: "good.test"))
                .authenticate(with: credential).answered()
            #expect(response.response?.statusCode == 200)
            #expect(stage.origin.counts.connectionsAccepted == 2)
            let first = await stage.origin.handshake(on: 0)?.clientCertificates.first
            #expect(try first == Certificate.pem(PKI.text("client-rsa.pem")).first)
            let second = try #require(await stage.origin.handshake(on: 1))
            #expect(second.clientCertificates.isEmpty)
        }
        await elsewhere.shutdown()
    }

    @Test(
        "[U-11.4] a session with an Authorization field does not use the storage after a redirect",
        arguments: [false, true], TestedHTTP.allCases)
    func configuredAuthorization(_ hasUsedCredential: Bool, over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        var setUp = Credentials.setUp(storage)
        let configure = setUp.configure
        setUp.configure = {
            configure($0)
            $0.httpAdditionalHeaders = ["Authorization": "Bearer bob"]
        }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            Credentials.serveMembers(on: stage.origin)
            Self.redirect("/away", on: stage.origin, to: stage.url("/members/page", host: "other.test"))
            if hasUsedCredential {
                let page = stage.url("/members/page")
                _ = await Credentials.request("alice", .request, page, stage.session).answered()
            }
            storage.setDefaultCredential(
                Credentials.credential("service"),
                for: URLProtectionSpace(
                    host: "other.test", port: Int(stage.origin.port), protocol: "http", realm: "members",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
            #expect(await stage.get("/away").answered().response?.statusCode == 401)
            #expect(!Credentials.usersSent(to: stage.origin).contains("service"))
        }
    }
}
