// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests that the same chains are trusted whatever the form in which roots are stored, and that malformed files beside the roots
/// change nothing.
@Suite struct RootFormsTests {
    /// Chains and the roots against which they are evaluated.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let chains: [[Certificate]]
        let roots: [Certificate]

        var testDescription: String { name }

        init(_ name: String, _ chains: [[Certificate]], roots: [Certificate]) {
            self.name = name
            self.chains = chains
            self.roots = roots
        }
    }

    /// Leaves of the fixtures. Together, their chains have every problem that a chain can have.
    static let leaves = [
        "good", "untrusted", "expired", "expired-issuer", "expired-root", "impostor", "cycle", "second",
        "deep",
        "bad-signature", "self-signed", "path-length", "constrained-inside", "constrained-outside",
        "weak-key",
        "unchained", "ecdsa", "no-ca",
    ]

    static func rows() throws -> [Row] {
        let fixtures = leaves.compactMap { leaf in
            try? TrustFixture.certificates(leaf + "-chain")
        }
        try #require(fixtures.count > 12)
        func root(_ name: String) throws -> Certificate { try TrustFixture.certificate(name) }
        let leaf = try ChainMaker.leaf("leaf", issuer: "Twin", signer: "root")
        let other = try ChainMaker.leaf("other leaf", issuer: "Twin", signer: "other-root")
        let new = try ChainMaker.authority("Twin", key: "root")
        let old = try ChainMaker.authority("Twin", key: "root", end: 1_750_000_000)
        let otherKey = try ChainMaker.authority("Twin", key: "other-root")
        let crossSigned = try ChainMaker.authority(
            "Twin", issuer: "Crosser", key: "root", signer: "other-root")
        let crossSigner = try ChainMaker.authority("Crosser", key: "other-root")
        let twinChains = [
            [leaf], [other], [leaf, crossSigned], [leaf, new], [leaf, old], [leaf, crossSigned, crossSigner],
        ]
        return [
            Row(
                "the fixtures under their root", fixtures, roots: [try root("root"), try root("other-root")]),
            Row(
                "the fixtures without intermediates", fixtures.map { Array($0.prefix(1)) },
                roots: [try root("root")]
            ),
            Row(
                "an intermediate as the anchor", fixtures,
                roots: [try root("intermediate"), try root("intermediate-cross")]),
            Row("leaves as anchors", fixtures, roots: fixtures.compactMap(\.first)),
            Row("under an expired root", fixtures, roots: [try root("expired-root"), try root("root")]),
            Row("an old root beside a new one", twinChains, roots: [old, new]),
            Row("a new root beside an old one", twinChains, roots: [new, old]),
            Row("an old root only", twinChains, roots: [old]),
            Row("one subject with two keys", twinChains, roots: [new, otherKey]),
            Row("the other key first", twinChains, roots: [otherKey, new]),
            Row("the wrong key only", twinChains, roots: [otherKey]),
            Row("a root beside its cross-signed twin", twinChains, roots: [new, crossSigned, crossSigner]),
            Row("a cross-signed root only", twinChains, roots: [crossSigned]),
            Row("only the root that has cross-signed", twinChains, roots: [crossSigner]),
            Row("the same root twice", twinChains, roots: [new, new, old, new]),
        ]
    }

    /// Checks every form against a store that holds all roots as parsed certificates.
    @Test(arguments: try rows()) func everyFormGivesTheSameVerdicts(_ row: Row) throws {
        let folder = try RootFolder()
        let bundle = try folder.write(Array(row.roots.map(\.pemText).joined(separator: "# \n").utf8), to: "x")
        let hashed = try RootFolder()
        try hashed.fill(hashed: row.roots)
        let named = try RootFolder()
        for (index, root) in row.roots.enumerated() { try named.write(root.der, to: "root \(index)") }
        var system = SystemRoots()
        system.bundles = [bundle]
        let forms: [(String, TrustStore)] = [
            ("a bundle", TrustStore(TrustRoots(includesSystem: false, files: [bundle]))),
            ("a hashed folder", TrustStore(TrustRoots(includesSystem: false, directories: [hashed.path]))),
            ("a folder", TrustStore(TrustRoots(includesSystem: false, directories: [named.path]))),
            (
                "both",
                TrustStore(TrustRoots(includesSystem: false, files: [bundle], directories: [hashed.path]))
            ),
            (
                "a bundle and certificates",
                TrustStore(TrustRoots(includesSystem: false, files: [bundle])).adding(row.roots)
            ),
            ("the system's", TrustStore(anchors: try system.load().certificates)),
        ]
        for chain in row.chains {
            func outcome(_ store: TrustStore) -> [String] {
                let trust = PeerTrust(
                    certificates: chain, stapledResponse: nil, host: "localhost", store: store)
                let verdict = verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now))
                return [verdict] + trust.chain().map(\.fingerprint.description)
            }
            let expected = outcome(TrustStore(anchors: row.roots))
            for (name, store) in forms {
                #expect(outcome(store) == expected, "\(name): \(chain.first?.description ?? "")")
            }
        }
    }

    @Test func aDistrustedRootStaysDistrusted() throws {
        let root = try TrustFixture.certificate("root")
        // The octets that `openssl x509 -addreject anyExtendedKeyUsage -trustout` appends.
        let rejected = root.der + [0x30, 0x08, 0xA0, 0x06, 0x06, 0x04, 0x55, 0x1D, 0x25, 0x00]
        let text = Certificate.pemText(of: rejected, label: "TRUSTED CERTIFICATE")
        let folder = try RootFolder()
        let file = try folder.write(Array(text.utf8), to: "root.pem")
        for roots in [
            TrustRoots(includesSystem: false, files: [file]),
            TrustRoots(includesSystem: false, directories: [folder.path]),
        ] {
            var trust = try TrustFixture.trust("good", roots: [])
            trust.store = TrustStore(anchors: try Certificate.bundle(file: file))
            let expected = verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now))
            #expect(expected == "untrustedRoot root")
            trust.store = TrustStore(roots)
            #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
        }
    }

    // MARK: malformed files

    /// Returns an invalid certificate whose outline is valid, so that it fails only when it is parsed.
    private static func malformedInside(_ name: String) throws -> [UInt8] {
        var der = try TrustFixture.certificate(name).der
        let subject = try #require(CertificateOutline.subjectRange(in: der))
        // The last octet of notAfter, which ends where the subject begins.
        #expect(der[subject.lowerBound - 1] == UInt8(ascii: "Z"))
        der[subject.lowerBound - 1] = UInt8(ascii: "?")
        #expect(throws: CertificateError.self) { try Certificate(der: der) }
        return der
    }

    @Test func aFolderWithMalformedAndSpecialFiles() throws {
        let folder = try RootFolder()
        let root = try PKI.bytes("root.pem")
        try folder.link("0nowhere.0", to: "nowhere.pem")
        try folder.link("0itself.0", to: "0itself.0")
        try folder.link("0endless.0", to: "/dev/zero")
        try folder.makePipe("00000000.0")
        try folder.makeFolder("11111111.0")
        try folder.write([], to: "22222222.0")
        try folder.write([UInt8](repeating: 0xFF, count: 4_000), to: "33333333.0")
        try folder.write(Array("-----BEGIN CERTIFICATE-----\nMII".utf8), to: "44444444.0")
        try folder.write(Array(Certificate.pemText(of: [0x30, 0x80, 0, 0]).utf8), to: "55555555.0")
        try folder.write(
            Array(Certificate.pemText(of: try Self.malformedInside("root")).utf8), to: "66666666.0")
        try folder.makeSparseFile(PEM.largestSize + 1, at: "77777777.0")
        try folder.write(try PKI.bytes("other-root.pem"), to: ".hidden.pem")
        let several = root + Array("\n".utf8) + (try PKI.bytes("client-root.pem"))
        try folder.write(several, to: "not a hash.txt")
        try folder.link("ffffffff.7", to: "not a hash.txt")
        let store = TrustStore(TrustRoots(includesSystem: false, directories: [folder.path]))
        var trust = try TrustFixture.trust("good", roots: [])
        trust.store = store
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == "accepted")
        #expect(store.count == 2)
        // 22222222.0 to 66666666.0, and the file with two names.
        #expect(store.statistics.filesRead == 6)
    }

    @Test func aMalformedRootFailsOnlyTheChainsThatNeedIt() throws {
        let folder = try RootFolder()
        let broken = Certificate.pemText(of: try Self.malformedInside("root"))
        let text = try PKI.text("other-root.pem") + broken
        let path = try folder.write(Array(text.utf8), to: "roots.pem")
        func evaluate(_ leaf: String, _ roots: TrustRoots) throws -> String {
            var trust = try TrustFixture.trust(leaf, roots: [])
            trust.store = TrustStore(roots)
            return verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now))
        }
        let file = TrustRoots(includesSystem: false, files: [path])
        #expect(try evaluate("untrusted", file) == "accepted")
        #expect(
            try evaluate("good", file)
                == "rootsUnusable the trusted roots in \(path) cannot be used: \(path), number 2: malformed certificate: notAfter is no time"
        )
        let inFolder = TrustRoots(includesSystem: false, directories: [folder.path])
        #expect(try evaluate("untrusted", inFolder) == "accepted")
        #expect(
            try evaluate("good", inFolder) == "issuerMissing intermediate of root",
            "a folder's malformed file is skipped")
    }

    @Test func foldersAndFilesHaveSizeLimits() throws {
        let folder = try RootFolder()
        try folder.write(try PKI.bytes("root.pem"), to: "root.pem")
        let size = try PKI.bytes("root.pem").count
        var reader = RootReader(contentLimit: size)
        try reader.read(folder: folder.path)
        #expect(reader.entries.count == 1)
        try folder.write([0x0A], to: "z")
        #expect(
            throws: TrustRootsError.unusable(
                path: folder.path, .tooLarge(.folder, count: size + 1, limit: size))
        ) { try reader.read(folder: folder.path) }
        var names = RootReader(namesLimit: 8)
        #expect(
            throws: TrustRootsError.unusable(path: folder.path, .tooLarge(.folder, count: 9, limit: 8))
        ) { try names.read(folder: folder.path) }
        let large = try RootFolder()
        try large.makeSparseFile(PEM.largestSize + 1, at: "x")
        #expect(throws: TrustRootsError.self) { try reader.read(file: large.file("x")) }
    }

    // MARK: outlines

    /// Checks that a truncated certificate has no outline, and that a changed one that still parses has an outline with the same
    /// subject.
    @Test(arguments: ["root", "good", "no-san", "many-names", "ed25519"])
    func anOutlineHasTheSubjectOfTheCertificate(_ name: String) throws {
        let der = try TrustFixture.certificate(name).der
        for cut in stride(from: 0, to: der.count, by: 7) {
            #expect(CertificateOutline.subjectRange(in: Array(der[..<cut])) == nil)
        }
        #expect(CertificateOutline.subjectRange(in: der + [0]) == nil)
        #expect(CertificateOutline.subjectRange(in: der + [0], trustSettings: true) != nil)
        for index in 0..<min(der.count, 400) {
            var changed = der
            changed[index] ^= 0x01
            guard let certificate = try? Certificate(der: changed) else { continue }
            let subject = try #require(CertificateOutline.subjectRange(in: changed))
            #expect(Array(changed[subject]) == certificate.subject.der)
        }
    }
}
