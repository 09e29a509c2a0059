// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of lazy roots: a store reads its files at the first evaluation, and parses only the certificates that a chain needs.
@Suite struct RootIndexTests {
    private static func store(_ files: [String] = [], folders: [String] = []) -> TrustStore {
        TrustStore(TrustRoots(includesSystem: false, files: files, directories: folders))
    }

    private static func evaluate(_ leaf: String, by store: TrustStore) throws -> String {
        var trust = try TrustFixture.trust(leaf, roots: [])
        trust.store = store
        return verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now))
    }

    // MARK: reading

    @Test func aContextReadsNoRoots() throws {
        let roots = TrustRoots(
            includesSystem: false, files: [PKI.path("bundle.pem")], directories: [PKI.roots])
        let context = try TLSClientContext(TLSConfiguration(roots: roots))
        #expect(!context.store.isLoaded)
        #expect(context.store.statistics == (0, 0))
        try context.loadRoots()
        #expect(context.store.isLoaded)
        #expect(context.store.statistics == (3, 0), "a bundle and two files of a folder, none of them parsed")
    }

    @Test func evaluatorsThatNeedNoRootsReadNone() throws {
        let root = try TrustFixture.certificate("root")
        let rows: [(TrustEvaluator, needsRoots: Bool, verdict: String, filesRead: Int, parsed: Int)] = [
            (.disabled, false, "accepted", 0, 0),
            (.pinnedCertificates([root], acceptsSelfSigned: true), false, "accepted", 0, 0),
            (.pinnedCertificates([]), false, "noPins", 0, 0),
            (.composite([.disabled, .pinnedKeys([])]), false, "noPins", 0, 0),
            (.default, true, "accepted", 1, 1),
            (.system(checksHost: false), true, "accepted", 1, 1),
            (.pinnedCertificates([root]), true, "accepted", 1, 1),
            (.revocation(.networkAccessDisabled), true, "accepted", 1, 1),
            (
                .pinnedKeys([try TrustFixture.pin("root")], validatesChain: false, checksHost: false), true,
                "accepted", 1, 1
            ),
        ]
        for row in rows {
            var trust = try TrustFixture.trust("good", roots: [])
            trust.store = Self.store([PKI.path("bundle.pem")])
            #expect(row.0.needsRoots == row.needsRoots)
            #expect(verdict(row.0.evaluate(trust, at: TrustFixture.now)) == row.verdict)
            #expect(trust.store.statistics == (row.filesRead, row.parsed), "\(row)")
        }
        #expect(!TrustEvaluator.custom { _, reply in reply(.success(())) }.needsRoots)
        #expect(
            TrustEvaluator.composite([.custom { _, reply in reply(.success(())) }, .default]).needsRoots)
        #expect(TrustEvaluator.revocation().needsRoots)
    }

    /// Checks that a loop's thread reads no files.
    @Test func unreadRootsNeedAWorker() throws {
        var trust = try TrustFixture.trust("good", roots: [])
        trust.store = Self.store([PKI.path("root.pem")])
        var evaluation = TrustEvaluation(of: trust, by: .default, at: TrustFixture.now)
        for _ in 0..<2 {
            guard case .needsWorker = evaluation.resume() else {
                Issue.record("the loop has read files")
                return
            }
        }
        #expect(trust.store.statistics == (0, 0))
        guard case .finished(let result) = evaluation.resumeOnWorker(revocation: .none) else {
            Issue.record("no verdict")
            return
        }
        #expect(verdict(result) == "accepted")
        var next = TrustEvaluation(of: trust, by: .default, at: TrustFixture.now)
        guard case .finished = next.resume() else {
            Issue.record("read twice")
            return
        }
        #expect(trust.store.statistics == (1, 1))
    }

    @Test func evidenceReportsWhetherRootsAreUnread() throws {
        var trust = try TrustFixture.trust("good", roots: [])
        trust.store = Self.store([PKI.path("root.pem")])
        let evidence = PeerEvidence(of: trust, acceptance: .unchecked, identity: .notAsked)
        #expect(evidence.needsRoots)
        evidence.readRoots()
        #expect(!evidence.needsRoots && !evidence.isUnproven(at: TrustFixture.now))
        trust.store = Self.store([PKI.path("nowhere.pem")])
        let other = PeerEvidence(of: trust, acceptance: .unchecked, identity: .notAsked)
        other.readRoots()
        #expect(other.needsRoots && other.isUnproven(at: TrustFixture.now))
        #expect(!other.needsRoots, "the failed attempt is remembered")
    }

    @Test func aChainParsesOnlyItsCandidates() throws {
        let others = try (0..<20).map { try ChainMaker.authority("Bystander \($0)", key: "root") }
        let root = try TrustFixture.certificate("root")
        let folder = try RootFolder()
        let roots = others.prefix(10) + [root] + others.suffix(10)
        let bundle = try folder.write(Array(roots.map(\.pemText).joined().utf8), to: "bundle.pem")
        let store = Self.store([bundle])
        for leaf in ["good", "good-ocsp", "expired", "good"] { _ = try Self.evaluate(leaf, by: store) }
        #expect(try Self.evaluate("good", by: store) == "accepted")
        #expect(store.statistics == (1, 1))
        #expect(try Self.evaluate("untrusted", by: store) == "issuerMissing untrusted of other-root")
        #expect(store.statistics == (1, 1), "no root has the issuer's name")
        #expect(store.count == 21)
        #expect(store.statistics == (1, 21), "counting the roots parses them")
    }

    @Test func changesAfterReadingHaveNoEffect() throws {
        let folder = try RootFolder()
        let file = folder.file("roots.pem")
        let store = Self.store([file])
        #expect(throws: TrustRootsError.self) { try store.load() }
        #expect(
            try Self.evaluate("good", by: store)
                == "rootsUnusable the trusted roots in \(file) cannot be used: cannot read \(file): error 2")
        try folder.write(try PKI.bytes("root.pem"), to: "roots.pem")
        try store.load()
        try folder.write(try PKI.bytes("other-root.pem"), to: "roots.pem")
        #expect(try Self.evaluate("good", by: store) == "accepted")
        #expect(try Self.evaluate("untrusted", by: store) == "issuerMissing untrusted of other-root")
        folder.remove("roots.pem")
        #expect(try Self.evaluate("good", by: store) == "accepted")
    }

    // MARK: names

    /// Checks that names are compared without case and repeated spaces, as X509_NAME_cmp does.
    @Test func namesAreComparedAsOpenSSLDoes() throws {
        let leaf = try ChainMaker.leaf("leaf", issuer: "the  ROOT of all ", signer: "root")
        let rows: [(String, String)] = [
            ("The Root  of All", "accepted"), ("the root of all", "accepted"),
            ("therootofall", "issuerMissing leaf of the  ROOT of all\\ "),
        ]
        for (name, expected) in rows {
            let root = try ChainMaker.authority(name, key: "root")
            let folder = try RootFolder()
            let store = Self.store([try folder.write(Array(root.pemText.utf8), to: "root.pem")])
            let trust = PeerTrust(
                certificates: [leaf], stapledResponse: nil, host: "localhost", store: store)
            #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
        }
    }

    @Test func aNameThatSharesAHashIsNoCandidate() throws {
        // The SHA-1 digests of their canonical forms begin with the same four octets.
        let names = ["Root 14246", "Root 75831"]
        let roots = try names.map { try ChainMaker.authority($0, key: "root") }
        let hashes = roots.compactMap { OpenSSLName(subjectOf: $0)?.hash }
        #expect(hashes == [0x82FA_4701, 0x82FA_4701])
        let folder = try RootFolder()
        try folder.fill(hashed: roots)
        let hashed = try RootFolder()
        let bundle = try hashed.write(Array(roots.map(\.pemText).joined().utf8), to: "bundle.pem")
        for name in names {
            for store in [Self.store([bundle]), Self.store(folders: [folder.path])] {
                let leaf = try ChainMaker.leaf("leaf", issuer: name, signer: "root")
                let trust = PeerTrust(
                    certificates: [leaf], stapledResponse: nil, host: "localhost", store: store)
                #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == "accepted")
                #expect(store.statistics.certificatesParsed == 1)
            }
        }
    }
}
