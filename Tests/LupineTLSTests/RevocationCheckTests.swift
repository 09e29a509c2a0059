// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of the sources that are queried for each certificate, and of the verdict from their answers (I-10.11).
@Suite struct RevocationCheckTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let title: String
        let leaf: String
        /// The name of the stapled OCSP response.
        var staple: String?
        /// The names of the revocation lists that the evaluator has.
        var givenLists: [String] = []
        var options: RevocationOptions = .any
        var answers: [String: FakeFetcher.Answer] = [:]
        let verdict: String
        /// The paths that are queried, in order.
        var queried: [String] = []

        var testDescription: String { title }
    }

    static let revoked = "revoked revoked-ocsp 1704067200 keyCompromise"
    static let revokedByList = "revoked revoked-crl 1704067200 keyCompromise"
    static let requiringResponse: RevocationOptions = [.any, .requirePositiveResponse]
    static let offline: RevocationOptions = [.any, .requirePositiveResponse, .networkAccessDisabled]

    static let rows: [Row] = [
        // Only leaves are checked here: their intermediate names no source.
        Row(
            title: "OCSP says good", leaf: "good-ocsp", answers: ["ocsp": .file("ocsp/good.der")],
            verdict: "accepted", queried: ["ocsp"]),
        Row(
            title: "OCSP says revoked", leaf: "revoked-ocsp", answers: ["ocsp": .file("ocsp/revoked.der")],
            verdict: revoked, queried: ["ocsp"]),
        Row(
            title: "a delegated responder says revoked", leaf: "revoked-ocsp",
            answers: ["ocsp": .file("ocsp/revoked-delegated.der")], verdict: revoked, queried: ["ocsp"]),
        Row(
            title: "a good staple makes a query unnecessary", leaf: "good-ocsp", staple: "good",
            verdict: "accepted"),
        Row(title: "the staple says revoked", leaf: "revoked-ocsp", staple: "revoked", verdict: revoked),
        Row(
            title: "the staple says revoked, without network", leaf: "revoked-ocsp", staple: "revoked",
            options: [.ocsp, .networkAccessDisabled], verdict: revoked),
        Row(
            title: "an outdated staple is replaced", leaf: "good-ocsp", staple: "expired",
            answers: ["ocsp": .file("ocsp/good.der")], verdict: "accepted", queried: ["ocsp"]),
        Row(
            title: "a forged staple is replaced", leaf: "revoked-ocsp", staple: "wrong-key",
            answers: ["ocsp": .file("ocsp/revoked.der")], verdict: revoked, queried: ["ocsp"]),
        Row(
            title: "the list says revoked", leaf: "revoked-crl",
            answers: ["intermediate.crl": .file("crl/intermediate.crl")], verdict: revokedByList,
            queried: ["intermediate.crl"]),
        Row(
            title: "the list has no entry for the certificate", leaf: "good-crl",
            answers: ["intermediate.crl": .file("crl/intermediate.crl")], verdict: "accepted",
            queried: ["intermediate.crl"]),
        Row(
            title: "the list is not queried without the option", leaf: "revoked-crl", options: .ocsp,
            verdict: "accepted"),
        Row(
            title: "OCSP is not queried without the option", leaf: "revoked-ocsp", options: .crl,
            verdict: "accepted"),
        Row(
            title: "nothing is queried without network access", leaf: "revoked-ocsp",
            options: [.any, .networkAccessDisabled],
            verdict: "accepted"),
        Row(
            title: "a given list says revoked", leaf: "revoked-crl", givenLists: ["intermediate"],
            options: .networkAccessDisabled, verdict: revokedByList),
        Row(
            title: "a given list overrides a good staple", leaf: "revoked-crl", staple: "good-revoked-crl",
            givenLists: ["intermediate"], verdict: revokedByList),
        Row(
            title: "a given list with a wrong signature is ignored", leaf: "revoked-crl",
            givenLists: ["wrong-key"],
            options: .networkAccessDisabled, verdict: "accepted"),
        Row(
            title: "OCSP first", leaf: "good-both",
            answers: ["ocsp": .file("ocsp/good-both.der"), "intermediate.crl": .file("crl/empty.crl")],
            verdict: "accepted", queried: ["ocsp"]),
        Row(
            title: "the list first if preferred", leaf: "good-both", options: [.any, .preferCRL],
            answers: ["ocsp": .file("ocsp/good-both.der"), "intermediate.crl": .file("crl/empty.crl")],
            verdict: "accepted", queried: ["intermediate.crl"]),
        Row(
            title: "the list if OCSP fails", leaf: "good-both",
            answers: ["ocsp": .failure(.timedOut), "intermediate.crl": .file("crl/empty.crl")],
            verdict: "accepted", queried: ["ocsp", "intermediate.crl"]),
        // Without a positive response: accepted unless one is required.
        Row(
            title: "no response is accepted", leaf: "good-ocsp", answers: ["ocsp": .failure(.timedOut)],
            verdict: "accepted", queried: ["ocsp"]),
        Row(
            title: "no response is refused if one is required", leaf: "good-ocsp", options: requiringResponse,
            answers: ["ocsp": .failure(.timedOut)], verdict: "revocationUnknown good-ocsp notFetched",
            queried: ["ocsp"]),
        Row(
            title: "the status unknown is accepted", leaf: "good-ocsp",
            answers: ["ocsp": .file("ocsp/unknown.der")],
            verdict: "accepted", queried: ["ocsp"]),
        Row(
            title: "the status unknown is no positive response", leaf: "good-ocsp",
            options: requiringResponse,
            answers: ["ocsp": .file("ocsp/unknown.der")],
            verdict: "revocationUnknown good-ocsp unknownCertificate",
            queried: ["ocsp"]),
        Row(
            title: "tryLater is no positive response", leaf: "good-ocsp", options: requiringResponse,
            answers: ["ocsp": .file("ocsp/try-later.der")],
            verdict: "revocationUnknown good-ocsp responderRefused 3", queried: ["ocsp"]),
        Row(
            title: "an OCSP response over the limit", leaf: "good-ocsp", options: requiringResponse,
            answers: ["ocsp": .bytes(64 << 10 | 1)], verdict: "revocationUnknown good-ocsp tooLarge 65536",
            queried: ["ocsp"]),
        Row(
            title: "a list over the limit", leaf: "good-crl", options: requiringResponse,
            answers: ["intermediate.crl": .bytes(8 << 20 | 1)],
            verdict: "revocationUnknown good-crl tooLarge 8388608", queried: ["intermediate.crl"]),
        Row(
            title: "a malformed list of the largest size", leaf: "good-crl", options: requiringResponse,
            answers: ["intermediate.crl": .bytes(8 << 20)], verdict: "revocationUnknown good-crl malformed",
            queried: ["intermediate.crl"]),
        Row(
            title: "no source for the intermediate", leaf: "good-ocsp", options: requiringResponse,
            answers: ["ocsp": .file("ocsp/good.der")], verdict: "revocationUnknown intermediate noSource",
            queried: ["ocsp"]),
        Row(
            title: "no source at all", leaf: "good", options: requiringResponse,
            verdict: "revocationUnknown good noSource"),
        Row(
            title: "a response required without network access", leaf: "good-ocsp", options: offline,
            verdict: "revocationUnknown good-ocsp noSource"),
        // Intermediates.
        Row(
            title: "every certificate but the root is checked by OCSP", leaf: "checked",
            options: requiringResponse,
            answers: [
                "checked-ocsp": .file("ocsp/checked.der"), "root-ocsp": .file("ocsp/issuer-checked.der"),
            ],
            verdict: "accepted", queried: ["checked-ocsp", "root-ocsp"]),
        Row(
            title: "every certificate but the root is checked by list", leaf: "checked",
            options: [requiringResponse, .preferCRL],
            answers: ["checked.crl": .file("crl/checked.crl"), "root.crl": .file("crl/root.crl")],
            verdict: "accepted", queried: ["checked.crl", "root.crl"]),
        Row(
            title: "a revoked intermediate by OCSP", leaf: "checked", staple: "checked",
            answers: ["root-ocsp": .file("ocsp/issuer-revoked.der")],
            verdict: "revoked intermediate-checked 1704067200 keyCompromise", queried: ["root-ocsp"]),
        Row(
            title: "a revoked intermediate by list", leaf: "revoked-issuer",
            answers: ["root.crl": .file("crl/root.crl")],
            verdict: "revoked intermediate-revoked 1704067200 cACompromise", queried: ["root.crl"]),
        Row(
            title: "a revoked intermediate by a given list", leaf: "revoked-issuer", givenLists: ["root"],
            options: .networkAccessDisabled, verdict: "revoked intermediate-revoked 1704067200 cACompromise"),
        // The chain has to be valid, too (I-10.10).
        Row(
            title: "no query for an expired chain", leaf: "expired",
            verdict: "expired expired 1640995199"),
        Row(
            title: "no query for a chain without an anchor", leaf: "self-signed",
            verdict: "selfSigned self-signed"),
    ]

    @Test(arguments: rows)
    func sourcesAreQueriedInOrder(_ row: Row) throws {
        let fetcher = FakeFetcher(row.answers)
        let lists = try row.givenLists.map { try RevocationList(der: try PKI.bytes("crl/\($0).crl")) }
        let evaluator = TrustEvaluator.revocation(
            row.options, lists: lists, validatesChain: false, checksHost: false)
        let trust = try TrustFixture.trust(row.leaf, staple: row.staple)
        let access = RevocationAccess(fetcher: fetcher, deadline: .now + .seconds(60))
        #expect(verdict(evaluator.evaluate(trust, at: TrustFixture.now, revocation: access)) == row.verdict)
        #expect(fetcher.requestedPaths == row.queried)
        #expect(
            evaluator.isLocal
                == (row.options.contains(.networkAccessDisabled) || row.options.isDisjoint(with: .any)))
        for query in fetcher.queries {
            #expect((query.body == nil) == query.url.hasSuffix(".crl"))
            #expect(query.limit == (query.body == nil ? 8 << 20 : 64 << 10))
        }
        // With the server policy before it, a revoked staple fails in that policy already.
        let withServerPolicy = TrustEvaluator.revocation(row.options, lists: lists)
        #expect(
            verdict(withServerPolicy.evaluate(trust, at: TrustFixture.now, revocation: access)) == row.verdict
        )
    }

    @Test func responsesAreCached() throws {
        let fetcher = FakeFetcher([
            "checked-ocsp": .file("ocsp/checked.der"), "root-ocsp": .file("ocsp/issuer-checked.der"),
        ])
        let cache = LockedCache()
        let access = RevocationAccess(fetcher: fetcher, deadline: .now + .seconds(60), cache: cache)
        let trust = try TrustFixture.trust("checked")
        for _ in 0..<3 {
            #expect(
                verdict(
                    TrustEvaluator.revocation(Self.requiringResponse).evaluate(
                        trust, at: TrustFixture.now, revocation: access))
                    == "accepted")
        }
        #expect(fetcher.requestedPaths == ["checked-ocsp", "root-ocsp"])
        #expect(cache.count == 2)
        // Cached answers are used without network access, and only within their validity.
        let cached = RevocationAccess.cached(cache)
        #expect(
            verdict(
                TrustEvaluator.revocation(Self.offline).evaluate(
                    trust, at: TrustFixture.now, revocation: cached))
                == "accepted")
    }

    @Test func listsAreCachedForTheWholeIssuer() throws {
        let fetcher = FakeFetcher(["intermediate.crl": .file("crl/intermediate.crl")])
        let access = RevocationAccess(
            fetcher: fetcher, deadline: .now + .seconds(60), cache: LockedCache())
        for (leaf, expected) in [
            ("good-crl", "accepted"), ("revoked-crl", Self.revokedByList), ("good-both", "accepted"),
        ] {
            let trust = try TrustFixture.trust(leaf)
            #expect(
                verdict(
                    TrustEvaluator.revocation(.crl).evaluate(trust, at: TrustFixture.now, revocation: access))
                    == expected)
        }
        #expect(fetcher.requestedPaths == ["intermediate.crl"])
    }

    @Test func failuresAreCachedForAMinute() throws {
        let fetcher = FakeFetcher(["ocsp": .failure(.status(503))])
        let access = RevocationAccess(
            fetcher: fetcher, deadline: .now + .seconds(60), cache: LockedCache())
        let trust = try TrustFixture.trust("good-ocsp")
        for (delay, queries) in [(Int64(0), 1), (59, 1), (60, 1), (61, 2), (62, 2)] {
            let result = TrustEvaluator.revocation(Self.requiringResponse).evaluate(
                trust, at: TrustFixture.now.adding(delay), revocation: access)
            #expect(verdict(result) == "revocationUnknown good-ocsp notFetched")
            #expect(fetcher.queries.count == queries, "after \(delay) s")
        }
    }

    @Test func forgedResponsesAreNotCachedAsResponses() throws {
        let fetcher = FakeFetcher(["ocsp": .file("ocsp/wrong-key.der")])
        let cache = LockedCache()
        let access = RevocationAccess(fetcher: fetcher, deadline: .now + .seconds(60), cache: cache)
        let trust = try TrustFixture.trust("good-ocsp")
        #expect(
            verdict(
                TrustEvaluator.revocation(Self.requiringResponse).evaluate(
                    trust, at: TrustFixture.now, revocation: access)
            )
                == "revocationUnknown good-ocsp badSignature")
        let leaf = try TrustFixture.certificate("good-ocsp")
        let issuer = try TrustFixture.certificate("intermediate")
        let key = RevocationKey.status(certificate: leaf.fingerprint, issuer: issuer.fingerprint)
        #expect(cache.answer(for: key, at: TrustFixture.now) == nil)
    }

    /// Checks that the server policy requires a valid staple for a must-staple certificate (RFC 7633).
    @Test(
        arguments: [
            (nil, "stapleMissing must-staple"), ("must-staple", "accepted"),
            ("must-staple-revoked", "revoked must-staple"),
            ("good", "revocationUnknown must-staple otherCertificate"),
            ("wrong-key", "revocationUnknown must-staple badSignature"),
            ("garbage", "revocationUnknown must-staple malformed"),
        ] as [(String?, String)])
    func mustStapleRequiresAValidStaple(_ staple: String?, _ expected: String) throws {
        let trust = try TrustFixture.trust("must-staple", staple: staple)
        let found = verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now))
        #expect(found.hasPrefix(expected))
        let disabled = verdict(TrustEvaluator.disabled.evaluate(trust, at: TrustFixture.now))
        #expect(disabled == "accepted")
    }

    /// Checks that without must-staple only a signed "revoked" has an effect.
    @Test(arguments: [
        ("good-ocsp", "good", "accepted"), ("good-ocsp", "garbage", "accepted"),
        ("good-ocsp", "wrong-key", "accepted"), ("good-ocsp", "expired", "accepted"),
        ("revoked-ocsp", "revoked", "revoked revoked-ocsp 1704067200 keyCompromise"),
        ("revoked-ocsp", "revoked-expired", "accepted"),
    ])
    func theDefaultEvaluatorReadsTheStaple(_ leaf: String, _ staple: String, _ expected: String) throws {
        let trust = try TrustFixture.trust(leaf, staple: staple)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
    }
}
