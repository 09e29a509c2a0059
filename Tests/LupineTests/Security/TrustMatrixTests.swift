// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// Each leaf that a server may present, against each evaluator, with the host looked at and not: through a session and a
/// handshake, down to the error that a request delivers.
@Suite struct TrustMatrixTests {
    private typealias Fixture = TrustFixture

    /// What is wrong with a leaf, as far as an evaluator may care.
    private enum Fault {
        case none
        /// Nothing but the name.
        case name
        case chain
    }

    private struct Leaf {
        let name: String
        let host: String
        let fault: Fault
        /// Whether the fixtures' root is at the end of what could be linked, whatever the validation says.
        var reachesRoot = true
    }

    /// Leaves that a handshake can be made with.
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
        Leaf(name: "sha1", host: "localhost", fault: .chain),
        Leaf(name: "weak-issuer", host: "localhost", fault: .chain),
        Leaf(name: "constrained-inside", host: "inside.allowed.test", fault: .none),
        Leaf(name: "constrained-outside", host: "outside.test", fault: .chain),
        Leaf(name: "wrong-usage", host: "localhost", fault: .chain),
        Leaf(name: "path-length", host: "localhost", fault: .chain),
        Leaf(name: "cycle", host: "localhost", fault: .chain, reachesRoot: false),
        Leaf(name: "critical", host: "localhost", fault: .chain),
        Leaf(name: "good-ocsp", host: "localhost", fault: .none),
        Leaf(name: "good-crl", host: "localhost", fault: .none),
        Leaf(name: "checked", host: "localhost", fault: .none),
    ]

    /// An evaluator, and how it judges.
    private struct Judge {
        let name: String
        let evaluator: any ServerTrustEvaluating
        let expected: String
    }

    private static func judges(_ leaf: Leaf, validateHost: Bool) throws -> [Judge] {
        let isValid = leaf.fault == .none || (leaf.fault == .name && !validateHost)
        let validity = isValid ? "trusted" : "trustEvaluationFailed"
        let certificate = try Fixture.certificate(leaf.name)
        let key = try #require(certificate.af.publicKey)
        let (root, rootKey) = (try Fixture.certificate("root"), try Fixture.key("root"))
        let (other, otherKey) = (try Fixture.certificate("second"), try Fixture.key("second"))
        let always = "trusted"
        // Without the default validation the host's is a whole one.
        let withoutDefault = validateHost ? validity : always
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
        let rootReached = leaf.reachesRoot ? always : "certificatePinningFailed"
        let rootKeyReached = leaf.reachesRoot ? always : "publicKeyPinningFailed"
        return [
            Judge(
                name: "default", evaluator: DefaultTrustEvaluator(validateHost: validateHost),
                expected: validity),
            Judge(
                name: "revocation",
                evaluator: .revocationChecking(
                    validateHost: validateHost, options: [.any, .networkAccessDisabled]),
                expected: validity),
            Judge(
                name: "revocation, answer wanted",
                evaluator: .revocationChecking(
                    validateHost: validateHost,
                    options: [.any, .networkAccessDisabled, .requirePositiveResponse]),
                expected: "trustEvaluationFailed"),
            Judge(name: "leaf pinned", evaluator: pin(certificate, true), expected: validity),
            Judge(name: "leaf pinned alone", evaluator: pin(certificate, false), expected: withoutDefault),
            Judge(name: "root pinned", evaluator: pin(root, true), expected: validity),
            Judge(
                name: "root pinned alone", evaluator: pin(root, false),
                expected: validateHost ? validity : rootReached),
            Judge(
                name: "another pinned", evaluator: pin(other, true),
                expected: failing("certificatePinningFailed")),
            Judge(
                name: "another pinned alone", evaluator: pin(other, false),
                expected: unvalidated("certificatePinningFailed")),
            Judge(
                name: "another the only anchor", evaluator: pin(other, true, anchors: true),
                expected: "trustEvaluationFailed"),
            Judge(name: "leaf's key", evaluator: pin(key, true), expected: validity),
            Judge(name: "leaf's key alone", evaluator: pin(key, false), expected: withoutDefault),
            Judge(
                name: "root's key alone", evaluator: pin(rootKey, false),
                expected: validateHost ? validity : rootKeyReached),
            Judge(
                name: "another key alone", evaluator: pin(otherKey, false),
                expected: unvalidated("publicKeyPinningFailed")),
            Judge(
                name: "composite",
                evaluator: .composite(evaluators: [
                    DefaultTrustEvaluator(validateHost: validateHost), pin(other, false),
                ]), expected: failing("certificatePinningFailed")),
            Judge(name: "disabled", evaluator: DisabledTrustEvaluator(), expected: always),
            Judge(
                name: "no certificates", evaluator: .pinnedCertificates(certificates: []),
                expected: "noCertificatesFound"),
            Judge(name: "no keys", evaluator: .publicKeys(keys: []), expected: "noPublicKeysFound"),
            Judge(
                name: "no options", evaluator: .revocationChecking(validateHost: validateHost, options: []),
                expected: failing("revocationPolicyCreationFailed")),
        ]
    }

    private static func end(_ request: DataRequest) async -> String {
        let end = await request.ended()
        if end.response?.statusCode == 200, end.error == nil { return "trusted" }
        return end.error.map(Fixture.name) ?? "nothing"
    }

    private static func weaken(_ configuration: URLSessionConfiguration) {
        configuration.lupine.tls.cipherList = "ALL:@SECLEVEL=0"
    }

    @Test("each leaf, each evaluator, with the host and without", arguments: leaves.map(\.name))
    func cells(_ name: String) async throws {
        let leaf = try #require(Self.leaves.first { $0.name == name })
        try await PolicyStage.run(leaf: leaf.name) { stage in
            for validateHost in [true, false] {
                for judge in try Self.judges(leaf, validateHost: validateHost) {
                    let manager = ServerTrustManager(evaluators: [leaf.host: judge.evaluator])
                    try await stage.withSession(trust: manager, configure: Self.weaken) { session in
                        let found = await Self.end(
                            session.request(stage.url(host: leaf.host, isSecure: true)))
                        #expect(found == judge.expected, "\(leaf.name), \(judge.name), host: \(validateHost)")
                    }
                }
            }
        }
    }

    @Test("without an evaluator the loading system judges, and a host that must have one is refused")
    func withoutEvaluator() async throws {
        for (leaf, host, isValid) in [("good", "good.test", true), ("expired", "localhost", false)] {
            try await PolicyStage.run(leaf: leaf) { stage in
                let rows: [(ServerTrustManager?, String)] = [
                    (nil, ""), (ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:]), ""),
                    (ServerTrustManager(evaluators: [:]), "noRequiredEvaluator"),
                ]
                for (manager, reason) in rows {
                    try await stage.withSession(trust: manager) { session in
                        let end = await session.request(stage.url(host: host, isSecure: true)).ended()
                        if reason.isEmpty {
                            #expect((end.error == nil) == isValid)
                            #expect(isValid || end.error?.isSessionTaskError == true)
                        } else {
                            #expect(end.error.map(Fixture.name) == reason)
                        }
                    }
                }
            }
        }
    }

    @Test("[I-10.11] what the server has stapled counts")
    func stapled() async throws {
        // The prepared answer is older than its next update; the one without a next update is not.
        try await PolicyStage.run(leaf: "good-ocsp", stapled: "ocsp/good-no-next.der") { stage in
            let evaluator: RevocationTrustEvaluator = .revocationChecking(
                options: [.ocsp, .networkAccessDisabled])
            let manager = ServerTrustManager(evaluators: ["localhost": evaluator])
            try await stage.withSession(trust: manager) { session in
                #expect(await Self.end(session.request(stage.url(isSecure: true))) == "trusted")
            }
        }
    }
}
