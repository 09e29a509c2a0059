// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of which sources are asked about which certificates, and of the verdict from their answers (I-10.11).
@Suite struct RevocationCheckTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let leaf: String
        var staple: String?
        var given: [String] = []
        var options: RevocationOptions = .any
        var answers: [String: FakeFetcher.Answer] = [:]
        let verdict: String
        var asked: [String] = []

        var testDescription: String { what }
    }

    static let revoked = "revoked revoked-ocsp 1704067200 keyCompromise"
    static let revokedByList = "revoked revoked-crl 1704067200 keyCompromise"
    static let hard: RevocationOptions = [.any, .requirePositiveResponse]
    static let offline: RevocationOptions = [.any, .requirePositiveResponse, .networkAccessDisabled]

    static let rows: [Row] = [
        // Leaves only: their intermediate names no source.
        Row(
            what: "OCSP says good", leaf: "good-ocsp", answers: ["ocsp": .file("ocsp/good.der")],
            verdict: "accepted", asked: ["ocsp"]),
        Row(
            what: "OCSP says revoked", leaf: "revoked-ocsp", answers: ["ocsp": .file("ocsp/revoked.der")],
            verdict: revoked, asked: ["ocsp"]),
        Row(
            what: "a delegated responder says revoked", leaf: "revoked-ocsp",
            answers: ["ocsp": .file("ocsp/revoked-delegated.der")], verdict: revoked, asked: ["ocsp"]),
        Row(
            what: "the staple saves the question", leaf: "good-ocsp", staple: "good", verdict: "accepted"),
        Row(what: "the staple says revoked", leaf: "revoked-ocsp", staple: "revoked", verdict: revoked),
        Row(
            what: "the staple says revoked, without network", leaf: "revoked-ocsp", staple: "revoked",
            options: [.ocsp, .networkAccessDisabled], verdict: revoked),
        Row(
            what: "an outdated staple is replaced", leaf: "good-ocsp", staple: "expired",
            answers: ["ocsp": .file("ocsp/good.der")], verdict: "accepted", asked: ["ocsp"]),
        Row(
            what: "a forged staple is replaced", leaf: "revoked-ocsp", staple: "wrong-key",
            answers: ["ocsp": .file("ocsp/revoked.der")], verdict: revoked, asked: ["ocsp"]),
        Row(
            what: "the list says revoked", leaf: "revoked-crl",
            answers: ["intermediate.crl": .file("crl/intermediate.crl")], verdict: revokedByList,
            asked: ["intermediate.crl"]),
        Row(
            what: "the list says nothing", leaf: "good-crl",
            answers: ["intermediate.crl": .file("crl/intermediate.crl")], verdict: "accepted",
            asked: ["intermediate.crl"]),
        Row(what: "no list without the option", leaf: "revoked-crl", options: .ocsp, verdict: "accepted"),
        Row(what: "no OCSP without the option", leaf: "revoked-ocsp", options: .crl, verdict: "accepted"),
        Row(
            what: "nobody is asked offline", leaf: "revoked-ocsp", options: [.any, .networkAccessDisabled],
            verdict: "accepted"),
        Row(
            what: "a given list says revoked", leaf: "revoked-crl", given: ["intermediate"],
            options: .networkAccessDisabled, verdict: revokedByList),
        Row(
            what: "a given list outdoes a good staple", leaf: "revoked-crl", staple: "good-revoked-crl",
            given: ["intermediate"], verdict: revokedByList),
        Row(
            what: "a given list with a wrong signature says nothing", leaf: "revoked-crl",
            given: ["wrong-key"],
            options: .networkAccessDisabled, verdict: "accepted"),
        Row(
            what: "OCSP first", leaf: "good-both",
            answers: ["ocsp": .file("ocsp/good-both.der"), "intermediate.crl": .file("crl/empty.crl")],
            verdict: "accepted", asked: ["ocsp"]),
        Row(
            what: "the list first when preferred", leaf: "good-both", options: [.any, .preferCRL],
            answers: ["ocsp": .file("ocsp/good-both.der"), "intermediate.crl": .file("crl/empty.crl")],
            verdict: "accepted", asked: ["intermediate.crl"]),
        Row(
            what: "the list when OCSP fails", leaf: "good-both",
            answers: ["ocsp": .failure(.timedOut), "intermediate.crl": .file("crl/empty.crl")],
            verdict: "accepted", asked: ["ocsp", "intermediate.crl"]),
        // Soft and hard failures.
        Row(
            what: "no answer is soft", leaf: "good-ocsp", answers: ["ocsp": .failure(.timedOut)],
            verdict: "accepted", asked: ["ocsp"]),
        Row(
            what: "no answer is hard when required", leaf: "good-ocsp", options: hard,
            answers: ["ocsp": .failure(.timedOut)], verdict: "revocationUnknown good-ocsp notFetched",
            asked: ["ocsp"]),
        Row(
            what: "unknown is soft", leaf: "good-ocsp", answers: ["ocsp": .file("ocsp/unknown.der")],
            verdict: "accepted", asked: ["ocsp"]),
        Row(
            what: "unknown is no positive answer", leaf: "good-ocsp", options: hard,
            answers: ["ocsp": .file("ocsp/unknown.der")],
            verdict: "revocationUnknown good-ocsp unknownCertificate",
            asked: ["ocsp"]),
        Row(
            what: "tryLater is no positive answer", leaf: "good-ocsp", options: hard,
            answers: ["ocsp": .file("ocsp/try-later.der")],
            verdict: "revocationUnknown good-ocsp responderRefused 3", asked: ["ocsp"]),
        Row(
            what: "too long an OCSP answer", leaf: "good-ocsp", options: hard,
            answers: ["ocsp": .bytes(64 << 10 | 1)], verdict: "revocationUnknown good-ocsp tooLarge 65536",
            asked: ["ocsp"]),
        Row(
            what: "too long a list", leaf: "good-crl", options: hard,
            answers: ["intermediate.crl": .bytes(8 << 20 | 1)],
            verdict: "revocationUnknown good-crl tooLarge 8388608", asked: ["intermediate.crl"]),
        Row(
            what: "a list of the largest size that is none", leaf: "good-crl", options: hard,
            answers: ["intermediate.crl": .bytes(8 << 20)], verdict: "revocationUnknown good-crl malformed",
            asked: ["intermediate.crl"]),
        Row(
            what: "nobody to ask about the intermediate", leaf: "good-ocsp", options: hard,
            answers: ["ocsp": .file("ocsp/good.der")], verdict: "revocationUnknown intermediate noSource",
            asked: ["ocsp"]),
        Row(
            what: "nobody to ask at all", leaf: "good", options: hard,
            verdict: "revocationUnknown good noSource"),
        Row(
            what: "required and offline", leaf: "good-ocsp", options: offline,
            verdict: "revocationUnknown good-ocsp noSource"),
        // Intermediates.
        Row(
            what: "every certificate but the root", leaf: "checked", options: hard,
            answers: [
                "checked-ocsp": .file("ocsp/checked.der"), "root-ocsp": .file("ocsp/issuer-checked.der"),
            ],
            verdict: "accepted", asked: ["checked-ocsp", "root-ocsp"]),
        Row(
            what: "every certificate but the root by list", leaf: "checked", options: [hard, .preferCRL],
            answers: ["checked.crl": .file("crl/checked.crl"), "root.crl": .file("crl/root.crl")],
            verdict: "accepted", asked: ["checked.crl", "root.crl"]),
        Row(
            what: "a revoked intermediate by OCSP", leaf: "checked", staple: "checked",
            answers: ["root-ocsp": .file("ocsp/issuer-revoked.der")],
            verdict: "revoked intermediate-checked 1704067200 keyCompromise", asked: ["root-ocsp"]),
        Row(
            what: "a revoked intermediate by list", leaf: "revoked-issuer",
            answers: ["root.crl": .file("crl/root.crl")],
            verdict: "revoked intermediate-revoked 1704067200 cACompromise", asked: ["root.crl"]),
        Row(
            what: "a revoked intermediate by a given list", leaf: "revoked-issuer", given: ["root"],
            options: .networkAccessDisabled, verdict: "revoked intermediate-revoked 1704067200 cACompromise"),
        // The chain has to be valid, too (I-10.10).
        Row(
            what: "an expired chain is not asked about", leaf: "expired",
            verdict: "expired expired 1640995199"),
        Row(
            what: "an unanchored chain is not asked about", leaf: "self-signed",
            verdict: "selfSigned self-signed"),
    ]

    @Test(arguments: rows)
    func sourcesAreAskedInOrder(_ row: Row) throws {
        let fetcher = FakeFetcher(row.answers)
        let lists = try row.given.map { try RevocationList(der: try PKI.bytes("crl/\($0).crl")) }
        let evaluator = TrustEvaluator.revocation(
            row.options, lists: lists, validatesChain: false, checksHost: false)
        let trust = try TrustFixture.trust(row.leaf, staple: row.staple)
        let access = RevocationAccess(fetcher: fetcher, deadline: .now + .seconds(60))
        #expect(verdict(evaluator.evaluate(trust, at: TrustFixture.now, revocation: access)) == row.verdict)
        #expect(fetcher.places == row.asked)
        #expect(
            evaluator.isLocal
                == (row.options.contains(.networkAccessDisabled) || row.options.isDisjoint(with: .any)))
        for query in fetcher.queries {
            #expect((query.body == nil) == query.url.hasSuffix(".crl"))
            #expect(query.limit == (query.body == nil ? 8 << 20 : 64 << 10))
        }
        // With the server policy before it, a revoked staple fails in that policy already.
        let both = TrustEvaluator.revocation(row.options, lists: lists)
        #expect(verdict(both.evaluate(trust, at: TrustFixture.now, revocation: access)) == row.verdict)
    }

    @Test func answersAreKept() throws {
        let fetcher = FakeFetcher([
            "checked-ocsp": .file("ocsp/checked.der"), "root-ocsp": .file("ocsp/issuer-checked.der"),
        ])
        let cache = LockedCache()
        let access = RevocationAccess(fetcher: fetcher, deadline: .now + .seconds(60), cache: cache)
        let trust = try TrustFixture.trust("checked")
        for _ in 0..<3 {
            #expect(
                verdict(
                    TrustEvaluator.revocation(Self.hard).evaluate(
                        trust, at: TrustFixture.now, revocation: access))
                    == "accepted")
        }
        #expect(fetcher.places == ["checked-ocsp", "root-ocsp"])
        #expect(cache.count == 2)
        // Cached answers are used without network access, and only within their validity.
        let kept = RevocationAccess.cached(cache)
        #expect(
            verdict(
                TrustEvaluator.revocation(Self.offline).evaluate(
                    trust, at: TrustFixture.now, revocation: kept))
                == "accepted")
    }

    @Test func listsAreKeptForTheWholeIssuer() throws {
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
        #expect(fetcher.places == ["intermediate.crl"])
    }

    @Test func failuresAreKeptForAMinute() throws {
        let fetcher = FakeFetcher(["ocsp": .failure(.status(503))])
        let access = RevocationAccess(
            fetcher: fetcher, deadline: .now + .seconds(60), cache: LockedCache())
        let trust = try TrustFixture.trust("good-ocsp")
        for (delay, questions) in [(Int64(0), 1), (59, 1), (60, 1), (61, 2), (62, 2)] {
            let result = TrustEvaluator.revocation(Self.hard).evaluate(
                trust, at: TrustFixture.now.adding(delay), revocation: access)
            #expect(verdict(result) == "revocationUnknown good-ocsp notFetched")
            #expect(fetcher.queries.count == questions, "after \(delay) s")
        }
    }

    @Test func forgedAnswersAreNotKeptAsAnswers() throws {
        let fetcher = FakeFetcher(["ocsp": .file("ocsp/wrong-key.der")])
        let cache = LockedCache()
        let access = RevocationAccess(fetcher: fetcher, deadline: .now + .seconds(60), cache: cache)
        let trust = try TrustFixture.trust("good-ocsp")
        #expect(
            verdict(
                TrustEvaluator.revocation(Self.hard).evaluate(trust, at: TrustFixture.now, revocation: access)
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
    func mustStapleIsHonoured(_ staple: String?, _ expected: String) throws {
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
    func aStapledRevocationCountsByDefault(_ leaf: String, _ staple: String, _ expected: String) throws {
        let trust = try TrustFixture.trust(leaf, staple: staple)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
    }
}
