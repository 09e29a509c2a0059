// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Revocation through a session and a handshake: with stapled OCSP responses, and with what is fetched from the URLs in the
/// certificates, for which a second origin answers.
@Suite struct SessionRevocationTests {
    typealias Options = RevocationTrustEvaluator.Options

    struct Row: CustomTestStringConvertible {
        let shows: String
        let leaf: String
        let options: Options
        /// The fixture that is the response at each path.
        var answers: [String: String] = [:]
        let status: OSStatus
        /// The paths that are requested, in order.
        var asked: [String] = []

        var testDescription: String { shows }
    }

    private static let strict: Options = .requirePositiveResponse
    private static let issuerAnswer = [
        "/checked-ocsp": "ocsp/checked.der", "/root-ocsp": "ocsp/issuer-checked.der",
    ]

    static let rows = [
        Row(
            shows: "a good answer for every certificate below the root", leaf: "checked",
            options: [.ocsp, strict],
            answers: issuerAnswer, status: errSecSuccess, asked: ["/checked-ocsp", "/root-ocsp"]),
        Row(
            shows: "an issuer that is revoked", leaf: "checked", options: .ocsp,
            answers: issuerAnswer.merging(["/root-ocsp": "ocsp/issuer-revoked.der"]) { $1 },
            status: errSecCertificateRevoked, asked: ["/checked-ocsp", "/root-ocsp"]),
        Row(
            shows: "lists that name none of them", leaf: "checked", options: [.crl, strict],
            answers: ["/checked.crl": "crl/checked.crl", "/root.crl": "crl/root.crl"], status: errSecSuccess,
            asked: ["/checked.crl", "/root.crl"]),
        Row(
            shows: "no answer where one is required", leaf: "checked", options: [.ocsp, strict],
            status: errSecIncompleteCertRevocationCheck, asked: ["/checked-ocsp", "/root-ocsp"]),
        Row(
            shows: "no answer where none is required", leaf: "checked", options: .ocsp, status: errSecSuccess,
            asked: ["/checked-ocsp", "/root-ocsp"]),
        Row(
            shows: "an answer that is not signed by whom it should be", leaf: "good-ocsp",
            options: [.ocsp, strict],
            answers: ["/ocsp": "ocsp/wrong-key.der"], status: errSecIncompleteCertRevocationCheck,
            asked: ["/ocsp"]),
        Row(
            shows: "a good answer", leaf: "good-ocsp", options: .any, answers: ["/ocsp": "ocsp/good.der"],
            status: errSecSuccess, asked: ["/ocsp"]),
        Row(
            shows: "a revoked leaf", leaf: "revoked-ocsp", options: .any,
            answers: ["/ocsp": "ocsp/revoked.der"],
            status: errSecCertificateRevoked, asked: ["/ocsp"]),
        Row(
            shows: "a revoked leaf, with the network off", leaf: "revoked-ocsp",
            options: [.any, .networkAccessDisabled], answers: ["/ocsp": "ocsp/revoked.der"],
            status: errSecSuccess),
        Row(
            shows: "a list without the leaf", leaf: "good-crl", options: .any,
            answers: ["/intermediate.crl": "crl/intermediate.crl"], status: errSecSuccess,
            asked: ["/intermediate.crl"]),
        Row(
            shows: "a list with the leaf", leaf: "revoked-crl", options: .any,
            answers: ["/intermediate.crl": "crl/intermediate.crl"], status: errSecCertificateRevoked,
            asked: ["/intermediate.crl"]),
        Row(
            shows: "a list with the issuer", leaf: "revoked-issuer", options: .crl,
            answers: ["/root.crl": "crl/root.crl"], status: errSecCertificateRevoked, asked: ["/root.crl"]),
        Row(
            shows: "the list first where it is preferred", leaf: "good-both", options: [.any, .preferCRL],
            answers: ["/intermediate.crl": "crl/intermediate.crl", "/ocsp": "ocsp/good-both.der"],
            status: errSecSuccess, asked: ["/intermediate.crl"]),
        Row(
            shows: "OCSP first where it is not", leaf: "good-both", options: .any,
            answers: ["/intermediate.crl": "crl/intermediate.crl", "/ocsp": "ocsp/good-both.der"],
            status: errSecSuccess, asked: ["/ocsp"]),
        Row(
            shows: "a leaf that names no address", leaf: "good", options: .any, status: errSecSuccess),
    ]

    @Test("[I-8.6] [I-10.11] revocation is checked over the network", arguments: rows)
    func fetched(_ row: Row) async throws {
        let asked = ValueLog<String>()
        let responder = try LupineOrigin.Origin.start()
        for path in Set(row.answers.keys).union(row.asked) {
            let answer = try row.answers[path].map { try PKI.bytes($0) }
            responder.route(nil, path) { request throws(Refusal) in
                asked.add(request.path)
                guard let answer else { throw Refusal(404, "there is no such answer") }
                return try OriginResponse(200, "application/octet-stream", answer)
            }
        }
        let host = row.leaf == "good" ? "good.test" : "localhost"
        let manager = ServerTrustManager(evaluators: [host: .revocationChecking(options: row.options)])
        try await PolicyStage.run(leaf: row.leaf) { stage in
            try await stage.withSession(
                trust: manager,
                // Responses are fetched through the session's HTTP proxy, which is the origin that answers.
                configure: {
                    $0.connectionProxyDictionary = [
                        "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(responder.port),
                    ]
                }
            ) { session in
                // A usable response is cached: the second request, on its own connection, fetches nothing.
                for turn in 0..<2 {
                    let request = session.request(
                        stage.url(host: host, isSecure: true), headers: ["Connection": "close"])
                    let response = await request.awaitResponse()
                    #expect(Self.status(response.error) == row.status, "turn \(turn)")
                    #expect((response.response?.statusCode == 200) == (row.status == errSecSuccess))
                    if turn == 0 { #expect(asked.all == row.asked) }
                }
                if row.answers.count >= row.asked.count, row.status != errSecIncompleteCertRevocationCheck {
                    #expect(asked.all == row.asked, "what is known is not asked for again")
                }
            }
        }
        await responder.shutdown()
    }

    @Test("a stapled response is used without a request to the responder", arguments: TestedHTTP.allCases)
    func stapled(over testedHTTP: TestedHTTP) async throws {
        let rows: [(leaf: String, staple: String?, OSStatus)] = [
            ("good-ocsp", "good", errSecSuccess), ("good-ocsp", "good-no-next", errSecSuccess),
            ("revoked-ocsp", "revoked", errSecCertificateRevoked),
            ("must-staple", "must-staple", errSecSuccess),
            ("must-staple", "must-staple-revoked", errSecCertificateRevoked),
            ("must-staple", nil, errSecIncompleteCertRevocationCheck),
        ]
        for (leaf, staple, status) in rows {
            let evaluators: [any ServerTrustEvaluating] = [
                .revocationChecking(options: [.ocsp, .networkAccessDisabled]), DefaultTrustEvaluator(),
            ]
            for evaluator in evaluators {
                try await PolicyStage.run(
                    leaf: leaf, stapled: staple.map { "ocsp/\($0).der" }, over: testedHTTP
                ) { stage in
                    let manager = ServerTrustManager(evaluators: ["localhost": evaluator])
                    try await stage.withSession(trust: manager) { session in
                        let response = await session.request(stage.url(isSecure: true)).awaitResponse()
                        #expect(
                            Self.status(response.error) == status,
                            "\(leaf), \(staple ?? "none"), \(evaluator)")
                    }
                }
            }
        }
    }

    /// Returns the status of the evaluation, or nil for a failure of another kind.
    private static func status(_ error: AFError?) -> OSStatus? {
        guard let error else { return errSecSuccess }
        guard case .serverTrustEvaluationFailed(.trustEvaluationFailed(let cause)) = error else { return nil }
        return cause.map { OSStatus(($0 as NSError).code) }
    }
}
