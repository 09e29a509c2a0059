// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTestKit
import Testing

/// Evaluators by host. The guides pin certificates of the app's bundle; the bundle of these tests has none, so that the
/// evaluators fail until they are given one.
@Suite struct TrustSnippets {
    @Test func aManagerIsGivenToASession() async throws {
        try await HTTPBin.serve(isSecure: true, leaf: "ip-san") { httpbin in
            let manager = ServerTrustManager(evaluators: ["127.0.0.1": PinnedCertificatesTrustEvaluator()])
            let session = Session(serverTrustManager: manager)
            #expect(await reason(session, httpbin) == "no certificates")

            let pinned = PinnedCertificatesTrustEvaluator(
                certificates: try SecCertificate.certificates(pem: PKI.text("root.pem")),
                acceptSelfSignedCertificates: true)
            let pinning = Session(serverTrustManager: ServerTrustManager(evaluators: ["127.0.0.1": pinned]))
            #expect(await reason(pinning, httpbin) == nil)
        }
    }

    /// The guide passes `serverTrustPolicies` to the manager, but declares `evaluators`.
    @Test func everyHostHasItsEvaluator() async throws {
        let evaluators: [String: ServerTrustEvaluating] = [
            // By default, certificates included in the app bundle are pinned automatically.
            "cert.example.com": PinnedCertificatesTrustEvaluator(),
            // By default, public keys from certificates included in the app bundle are used automatically.
            "keys.example.com": PublicKeysTrustEvaluator(),
        ]

        let manager = ServerTrustManager(evaluators: evaluators)

        #expect(
            try manager.serverTrustEvaluator(forHost: "cert.example.com") is PinnedCertificatesTrustEvaluator)
        #expect(try manager.serverTrustEvaluator(forHost: "keys.example.com") is PublicKeysTrustEvaluator)
        // A host without an evaluator is refused.
        #expect(throws: AFError.self) { try manager.serverTrustEvaluator(forHost: "example.com") }
        try await HTTPBin.serve(isSecure: true, leaf: "ip-san") { httpbin in
            #expect(await reason(Session(serverTrustManager: manager), httpbin) == "no evaluator")
            let keys = ServerTrustManager(evaluators: ["127.0.0.1": PublicKeysTrustEvaluator()])
            #expect(await reason(Session(serverTrustManager: keys), httpbin) == "no keys")
        }
    }

    /// Returns why a server is not trusted, or nil if the request succeeds.
    private func reason(_ session: Session, _ httpbin: HTTPBin) async -> String? {
        let response = await session.request("\(httpbin)/get").serializingData().response
        switch response.error {
        case nil: return response.response?.statusCode == 200 ? nil : "no answer"
        case .serverTrustEvaluationFailed(.noCertificatesFound): return "no certificates"
        case .serverTrustEvaluationFailed(.noPublicKeysFound): return "no keys"
        case .serverTrustEvaluationFailed(.noRequiredEvaluator): return "no evaluator"
        case .some(let other): return "\(other)"
        }
    }
}
