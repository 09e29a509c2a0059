// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTLS
import LupineTestKit
import Testing

@testable import Lupine

/// Each leaf that a server may present, with each evaluator, with and without validation of the host: through a session and a
/// handshake, up to the error of the request.
@Suite struct TrustMatrixTests {
    private typealias Fixture = TrustFixture

    /// The defect of a leaf, as far as evaluators distinguish it.
    private enum Fault {
        case none
        /// Only the name is wrong.
        case name
        case chain
    }

    private struct Leaf {
        let name: String
        let host: String
        let fault: Fault
        /// Whether the chain can be built up to the fixtures' root, whether or not it is valid.
        var reachesRoot = true
        /// An additional curve that the client has to offer for such a key, which only TLS 1.2 supports.
        var curve: String?
    }

    /// Leaves that can be used in a handshake.
    private static let leaves: [Leaf] = [
        Leaf(name: "good", host: "good.test", fault: .none),
        Leaf(name: "rsa", host: "rsa.test", fault: .none),
        Leaf(name: "ecdsa", host: "ecdsa.test", fault: .none),
        Leaf(name: "ed25519", host: "ed25519.test", fault: .none),
        Leaf(name: "p384", host: "p384.test", fault: .none),
        Leaf(name: "many-names", host: "n0999.many.test", fault: .none),
        Leaf(name: "deep", host: "deep.test", fault: .none),
        Leaf(name: "renewed", host: "good.test", fault: .none),
        Leaf(name: "renewed-other-key", host: "good.test", fault: .none),
        Leaf(name: "first", host: "first.test", fault: .none),
        Leaf(name: "second", host: "second.test", fault: .none),
        Leaf(name: "rsa-pss", host: "rsa-pss.test", fault: .none),
        Leaf(name: "idna", host: "xn--bcher-kva.test", fault: .none),
        Leaf(name: "wildcard", host: "any.wild.test", fault: .none),
        Leaf(name: "wildcard-wide", host: "any.test", fault: .name),
        Leaf(name: "ip-san", host: "127.0.0.1", fault: .none),
        Leaf(name: "wrong-host", host: "localhost", fault: .name),
        Leaf(name: "no-san", host: "localhost", fault: .name),
        Leaf(name: "uri-san", host: "localhost", fault: .name),
        Leaf(name: "nul-name", host: "good.test", fault: .name),
        Leaf(name: "expired", host: "localhost", fault: .chain),
        Leaf(name: "not-yet-valid", host: "localhost", fault: .chain),
        Leaf(name: "expired-issuer", host: "localhost", fault: .chain),
        Leaf(name: "expired-root", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "self-signed", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "self-signed-ca", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "untrusted", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "impostor", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "bad-signature", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "weak-key", host: "localhost", fault: .chain),
        Leaf(name: "weak-curve", host: "localhost", fault: .chain, curve: "secp192r1"),
        Leaf(name: "weak-curve-224", host: "localhost", fault: .chain, curve: "secp224r1"),
        Leaf(name: "sha1", host: "localhost", fault: .chain),
        Leaf(name: "weak-issuer", host: "localhost", fault: .chain),
        Leaf(name: "constrained-inside", host: "inside.allowed.test", fault: .none),
        Leaf(name: "constrained-outside", host: "outside.test", fault: .chain),
        Leaf(name: "wrong-usage", host: "localhost", fault: .chain),
        Leaf(name: "no-ca", host: "localhost", fault: .chain),
        Leaf(name: "path-length", host: "localhost", fault: .chain),
        Leaf(name: "cycle", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "critical", host: "localhost", fault: .chain),
        // Nothing is stapled or fetched here, so that revocation remains unknown.
        Leaf(name: "must-staple", host: "localhost", fault: .chain),
        Leaf(name: "good-ocsp", host: "localhost", fault: .none),
        Leaf(name: "revoked-ocsp", host: "localhost", fault: .none),
        Leaf(name: "good-crl", host: "localhost", fault: .none),
        Leaf(name: "revoked-crl", host: "localhost", fault: .none),
        Leaf(name: "good-both", host: "localhost", fault: .none),
        Leaf(name: "checked", host: "localhost", fault: .none),
        Leaf(name: "revoked-issuer", host: "localhost", fault: .none),
    ]

    /// An evaluator, and its expected result.
    private struct EvaluatorCase {
        let name: String
        let evaluator: any ServerTrustEvaluating
        let expected: String
    }

    private static func evaluatorCases(_ leaf: Leaf, validateHost: Bool) throws -> [EvaluatorCase] {
        let isValid = leaf.fault == .none || (leaf.fault == .name && !validateHost)
        let validity = isValid ? "trusted" : "trustEvaluationFailed"
        let certificate = try Fixture.certificate(leaf.name)
        let key = try #require(certificate.af.publicKey)
        let (root, rootKey) = (try Fixture.certificate("root"), try Fixture.key("root"))
        let otherName = leaf.name == "second" ? "first" : "second"
        let (other, otherKey) = (try Fixture.certificate(otherName), try Fixture.key(otherName))
        let trusted = "trusted"
        // Without the default validation, the validation of the host checks the whole chain.
        let withoutDefault = validateHost ? validity : trusted
        func failing(_ reason: String) -> String { isValid ? reason : validity }
        func unvalidated(_ reason: String) -> String { validateHost ? failing(reason) : reason }
        func pin(_ certificate: SecCertificate, _ byDefault: Bool, anchors: Bool = false)
            -> any ServerTrustEvaluating
        {
            PinnedCertificatesTrustEvaluator(
                certificates: [certificate], acceptSelfSignedCertificates: anchors,
                performDefaultValidation: byDefault, validateHost: validateHost)
        }
        func pin(_ key: SecKey, _ byDefault: Bool) -> any ServerTrustEvaluating {
            PublicKeysTrustEvaluator(
                keys: [key], performDefaultValidation: byDefault, validateHost: validateHost)
        }
        let rootReached = leaf.reachesRoot ? trusted : "certificatePinningFailed"
        let rootKeyReached = leaf.reachesRoot ? trusted : "publicKeyPinningFailed"
        return [
            EvaluatorCase(
                name: "default", evaluator: DefaultTrustEvaluator(validateHost: validateHost),
                expected: validity),
            EvaluatorCase(
                name: "revocation",
                evaluator: .revocationChecking(
                    validateHost: validateHost, options: [.any, .networkAccessDisabled]),
                expected: validity),
            EvaluatorCase(
                name: "revocation, response required",
                evaluator: .revocationChecking(
                    validateHost: validateHost,
                    options: [.any, .networkAccessDisabled, .requirePositiveResponse]),
                expected: "trustEvaluationFailed"),
            EvaluatorCase(name: "leaf pinned", evaluator: pin(certificate, true), expected: validity),
            EvaluatorCase(
                name: "leaf pinned alone", evaluator: pin(certificate, false), expected: withoutDefault),
            EvaluatorCase(name: "root pinned", evaluator: pin(root, true), expected: validity),
            EvaluatorCase(
                name: "root pinned alone", evaluator: pin(root, false),
                expected: validateHost ? validity : rootReached),
            EvaluatorCase(
                name: "another pinned", evaluator: pin(other, true),
                expected: failing("certificatePinningFailed")),
            EvaluatorCase(
                name: "another pinned alone", evaluator: pin(other, false),
                expected: unvalidated("certificatePinningFailed")),
            EvaluatorCase(
                name: "another as the only anchor", evaluator: pin(other, true, anchors: true),
                expected: "trustEvaluationFailed"),
            EvaluatorCase(name: "leaf's key", evaluator: pin(key, true), expected: validity),
            EvaluatorCase(name: "leaf's key alone", evaluator: pin(key, false), expected: withoutDefault),
            EvaluatorCase(
                name: "root's key alone", evaluator: pin(rootKey, false),
                expected: validateHost ? validity : rootKeyReached),
            EvaluatorCase(
                name: "another key alone", evaluator: pin(otherKey, false),
                expected: unvalidated("publicKeyPinningFailed")),
            EvaluatorCase(
                name: "composite",
                evaluator: .composite(evaluators: [
                    DefaultTrustEvaluator(validateHost: validateHost), pin(other, false),
                ]), expected: failing("certificatePinningFailed")),
            EvaluatorCase(name: "disabled", evaluator: DisabledTrustEvaluator(), expected: trusted),
            EvaluatorCase(
                name: "no certificates", evaluator: .pinnedCertificates(certificates: []),
                expected: "noCertificatesFound"),
            EvaluatorCase(name: "no keys", evaluator: .publicKeys(keys: []), expected: "noPublicKeysFound"),
            EvaluatorCase(
                name: "no options", evaluator: .revocationChecking(validateHost: validateHost, options: []),
                expected: failing("revocationPolicyCreationFailed")),
        ]
    }

    private static func verdict(_ request: DataRequest) async -> String {
        let response = await request.awaitResponse()
        if response.response?.statusCode == 200, response.error == nil { return "trusted" }
        return response.error.map(Fixture.name) ?? "nothing"
    }

    private static func allowWeakKeys(_ configuration: URLSessionConfiguration, curve: String?) {
        configuration.lupine.tls.cipherList = "ALL:@SECLEVEL=0"
        if let curve { configuration.lupine.tls.groups = "P-256:\(curve)" }
    }

    @Test("every leaf of the fixtures has a row")
    func completeness() throws {
        let page = try PKI.text("README.md")
        let start = try #require(page.range(of: "## Leaves\n"))
        let end = try #require(page.range(of: "\n## ", range: start.upperBound..<page.endIndex))
        let rows = page[start.upperBound..<end.lowerBound].split(separator: "\n")
            .filter { $0.hasPrefix("| `") && !$0.contains("no server") && !$0.contains("Client identity") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        #expect(Set(rows) == Set(Self.leaves.map(\.name)) && rows.count == Self.leaves.count)
    }

    @Test(
        "the verdict of each evaluator about each leaf, with and without the host",
        arguments: leaves.map(\.name), TestedHTTP.allCases
    )
    func cells(_ name: String, over testedHTTP: TestedHTTP) async throws {
        let leaf = try #require(Self.leaves.first { $0.name == name })
        try await PolicyStage.run(
            leaf: leaf.name, newest: leaf.curve == nil ? .v1_3 : .v1_2, over: testedHTTP
        ) {
            stage in
            for validateHost in [true, false] {
                for evaluatorCase in try Self.evaluatorCases(leaf, validateHost: validateHost) {
                    let manager = ServerTrustManager(evaluators: [leaf.host: evaluatorCase.evaluator])
                    try await stage.withSession(
                        trust: manager, configure: { Self.allowWeakKeys($0, curve: leaf.curve) }
                    ) { session in
                        let found = await Self.verdict(
                            session.request(stage.url(host: leaf.host, isSecure: true)))
                        #expect(
                            found == evaluatorCase.expected,
                            "\(leaf.name), \(evaluatorCase.name), host: \(validateHost)")
                    }
                }
            }
        }
    }

    @Test(
        "without an evaluator the loading system decides; a host that must have one is refused",
        arguments: TestedHTTP.allCases)
    func withoutEvaluator(over testedHTTP: TestedHTTP) async throws {
        for (leaf, host, isValid) in [("good", "good.test", true), ("expired", "localhost", false)] {
            try await PolicyStage.run(leaf: leaf, over: testedHTTP) { stage in
                let rows: [(ServerTrustManager?, String)] = [
                    (nil, ""), (ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:]), ""),
                    (ServerTrustManager(evaluators: [:]), "noRequiredEvaluator"),
                ]
                for (manager, reason) in rows {
                    try await stage.withSession(trust: manager) { session in
                        let response = await session.request(stage.url(host: host, isSecure: true))
                            .awaitResponse()
                        if reason.isEmpty {
                            #expect((response.error == nil) == isValid)
                            #expect(isValid || response.error?.isSessionTaskError == true)
                        } else {
                            #expect(response.error.map(Fixture.name) == reason)
                        }
                    }
                }
            }
        }
    }
}
