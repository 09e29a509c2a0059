// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of the sources of roots, and of the errors if roots cannot be read.
@Suite struct TrustStoreTests {
    @Test("[U-12.2] the name of roots changes when one of their files is written to, replaced or removed")
    func names() throws {
        let folder = try RootFolder()
        let sets: [() -> String] = [
            { TrustRoots(files: [folder.file("a")]).name }, { TrustRoots(directories: [folder.path]).name },
            { SystemRoots(file: folder.file("a")).name }, { SystemRoots(directories: [folder.path]).name },
            { SystemRoots(bundles: [folder.file("a")]).name },
        ]
        var seen = [Set<String>](repeating: [], count: sets.count)
        for change in [{ _ = 0 }, { try folder.write([1], to: "a") }, { try folder.write([1, 2], to: "a") }] {
            try change()
            for (index, name) in sets.enumerated() {
                #expect(name() == name() && seen[index].insert(name()).inserted)
            }
        }
        #expect(TrustRoots.system.name == SystemRoots.name && TrustRoots.none.name != SystemRoots.name)
    }

    private func evaluate(_ store: TrustStore, _ leaf: String) throws -> String {
        var trust = try TrustFixture.trust(leaf, roots: [])
        trust.store = store
        return verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now))
    }

    @Test func bundlesDirectoriesAndCertificatesAreMixed() throws {
        let other = try TrustFixture.certificate("other-root")
        let rows: [(TrustRoots, count: Int, good: String, untrusted: String)] = [
            (
                TrustRoots(includesSystem: false, files: [PKI.path("bundle.pem")]), 2, "accepted",
                "issuerMissing untrusted of other-root"
            ),
            (
                TrustRoots(includesSystem: false, directories: [PKI.roots]), 2, "accepted",
                "issuerMissing untrusted of other-root"
            ),
            (
                TrustRoots(includesSystem: false, files: [PKI.path("root.der")]), 1, "accepted",
                "issuerMissing untrusted of other-root"
            ),
            (.certificates([other]), 1, "issuerMissing intermediate of root", "accepted"),
            (
                TrustRoots(includesSystem: false, files: [PKI.path("root.pem")], certificates: [other]), 2,
                "accepted", "accepted"
            ),
            (.none, 0, "issuerMissing intermediate of root", "issuerMissing untrusted of other-root"),
        ]
        for row in rows {
            let store = TrustStore(row.0)
            #expect(store.count == row.count)
            #expect(store.certificates.count == row.count)
            #expect(try evaluate(store, "good") == row.good)
            #expect(try evaluate(store, "untrusted") == row.untrusted)
        }
    }

    @Test func addingDoesNotChangeTheOriginal() throws {
        let store = TrustStore(anchors: [try TrustFixture.certificate("root")])
        let wider = store.adding([
            try TrustFixture.certificate("other-root"), try TrustFixture.certificate("root"),
        ])
        #expect(wider.certificates.count == 2, "a root that is added twice counts once")
        #expect(try evaluate(wider, "untrusted") == "accepted")
        #expect(try evaluate(store, "untrusted") == "issuerMissing untrusted of other-root")
    }

    @Test func missingEmptyAndBrokenRootsAreErrors() {
        let folder = PKI.path("nowhere")
        let broken: [TrustRoots] = [
            TrustRoots(includesSystem: false, files: [PKI.path("nowhere.pem")]),
            TrustRoots(includesSystem: false, files: [PKI.path("good.key")]),
            TrustRoots(includesSystem: false, files: [PKI.path("ocsp/garbage.der")]),
            TrustRoots(includesSystem: false, files: [PKI.path("root.pem"), PKI.path("nowhere.pem")]),
            TrustRoots(includesSystem: false, directories: [folder]),
        ]
        for roots in broken {
            #expect(throws: TrustRootsError.self) { try TrustStore(roots).load() }
        }
        #expect(throws: TrustRootsError.empty(path: PKI.path("crl"))) {
            try TrustStore(TrustRoots(includesSystem: false, directories: [PKI.path("crl")])).load()
        }
    }

    @Test func theEnvironmentReplacesTheSystemsPaths() throws {
        var roots = SystemRoots()
        roots.bundles = [PKI.path("other-root.pem")]
        #expect(try roots.load().certificates == [TrustFixture.certificate("other-root")])
        roots.file = PKI.path("root.pem")
        #expect(try roots.load().certificates == [TrustFixture.certificate("root")])
        roots.file = nil
        roots.directories = [PKI.roots]
        #expect(try roots.load().certificates.count == 2)
        roots.file = PKI.path("nowhere.pem")
        #expect(throws: TrustRootsError.self) { try roots.load() }
    }

    @Test func theFirstExistingBundleIsRead() throws {
        var roots = SystemRoots()
        roots.bundles = [PKI.path("nowhere.pem"), PKI.path("root.pem"), PKI.path("other-root.pem")]
        #expect(try roots.load().certificates == [TrustFixture.certificate("root")])
        roots.bundles = [PKI.path("good.key"), PKI.path("root.pem")]
        #expect(throws: TrustRootsError.self, "a malformed bundle is an error: the next one is not read") {
            try roots.load()
        }
        roots.bundles = [PKI.path("nowhere.pem")]
        #expect(throws: TrustRootsError.noSystemRoots(tried: roots.bundles)) { try roots.load() }
    }
}
