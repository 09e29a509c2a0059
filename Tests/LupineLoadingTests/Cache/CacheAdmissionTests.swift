// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import Testing

@testable import LupineLoading

/// Tests of which entries may answer which requests: every kind of reader with every kind of entry.
@Suite struct CacheAdmissionTests {
    private final class Object: Sendable {}

    private static let (first, second) = (Object(), Object())
    static let keyA = SHA256Digest.of([1])
    static let keyB = SHA256Digest.of([2])
    static let alice = SHA256Digest.of([3])
    static let bob = SHA256Digest.of([4])

    static func judge(_ object: Int, roots: String = "system") -> TrustJudge {
        TrustJudge(
            objects: [ObjectToken(of: object == 1 ? first : second)], evaluator: .default, roots: roots)
    }

    /// Returns the provenance of a response that came over TLS.
    static func secure(
        _ identity: PeerEvidence.ClientIdentity = .notAsked, roots: String? = "system",
        keys: Set<SHA256Digest> = [keyA], judge: TrustJudge? = nil, isChainChecked: Bool = true
    ) -> CacheProvenance {
        CacheProvenance(
            .secure(
                CacheProvenance.Connection(
                    identity: identity, roots: roots, keys: keys, judge: judge, isChainChecked: isChainChecked
                )))
    }

    static let entries: [(name: String, provenance: CacheProvenance)] = [
        ("program", .program), ("http", .plain),
        ("proxied", CacheProvenance(.plain(route: CacheRoute("http p:1")))),
        (
            "aliceProxied",
            CacheProvenance(.plain(route: CacheRoute("http p:1", credentials: Array("alice".utf8))))
        ),
        ("proven", secure()), ("otherRoots", secure(roots: "mine")), ("keyB", secure(keys: [keyB])),
        ("unproven", secure(roots: nil)), ("unprovenB", secure(roots: nil, keys: [keyB])),
        ("judged1", secure(roots: nil, judge: judge(1))), ("judged2", secure(roots: nil, judge: judge(2))),
        ("proven1", secure(judge: judge(1))), ("alice", secure(.certificate(alice))),
        ("alice1", secure(.certificate(alice), judge: judge(1))), ("anonymous", secure(.noCertificate)),
        ("aliceUnproven", secure(.certificate(alice), roots: nil)),
    ]

    static let open: Set = ["program", "http"]

    static let readers: [(name: String, reader: CacheRequester, may: Set<String>)] = [
        (
            "standard", CacheRequester(policy: .standard(roots: "system")),
            open.union(["proven", "keyB", "proven1", "anonymous"])
        ),
        (
            "with other roots", CacheRequester(policy: .standard(roots: "mine")), open.union(["otherRoots"])
        ),
        (
            "behind a proxy",
            CacheRequester(policy: .standard(roots: "system"), route: CacheRoute("http p:1")),
            ["program", "proxied", "proven", "keyB", "proven1", "anonymous"]
        ),
        (
            "alice behind a proxy",
            CacheRequester(
                policy: .standard(roots: "system"),
                route: CacheRoute("http p:1", credentials: Array("alice".utf8))),
            ["program", "aliceProxied", "proven", "keyB", "proven1", "anonymous"]
        ),
        (
            "behind another proxy",
            CacheRequester(policy: .standard(roots: "system"), route: CacheRoute("http p:2")),
            ["program", "proven", "keyB", "proven1", "anonymous"]
        ),
        (
            "alice", CacheRequester(policy: .standard(roots: "system"), client: alice),
            open.union(["proven", "keyB", "proven1", "alice", "alice1"])
        ),
        (
            "bob", CacheRequester(policy: .standard(roots: "system"), client: bob),
            open.union(["proven", "keyB", "proven1"])
        ),
        (
            "pins", CacheRequester(policy: .pins([[keyA]], roots: "system")),
            open.union(["proven", "proven1", "anonymous"])
        ),
        (
            "pins without validation", CacheRequester(policy: .pins([[keyB]], roots: nil)),
            open.union(["keyB", "unprovenB"])
        ),
        (
            "two sets of pins", CacheRequester(policy: .pins([[keyA], [keyB]], roots: nil)), open
        ),
        (
            "first delegate", CacheRequester(policy: .judge(judge(1))), open.union(["judged1", "proven1"])
        ),
        ("second delegate", CacheRequester(policy: .judge(judge(2))), open.union(["judged2"])),
        (
            "first delegate in a session with other roots",
            CacheRequester(policy: .judge(judge(1, roots: "mine"))), open
        ),
        (
            "alice with the first delegate", CacheRequester(policy: .judge(judge(1)), client: alice),
            open.union(["judged1", "proven1", "alice1"])
        ),
    ]

    @Test("[U-12.2] which requester may use which entry, among those of one URL")
    func table() {
        for (summary, reader, may) in Self.readers {
            for (name, provenance) in Self.entries {
                #expect(
                    CacheAdmission.admits(reader, to: provenance) == may.contains(name),
                    "\(summary) at \(name)")
                if may.contains(name) {
                    #expect(
                        CacheAdmission.partitions(of: reader).contains(provenance.partition),
                        "\(summary) at \(name)"
                    )
                }
            }
        }
    }

    @Test("[U-12.2] which entries an evaluator accepts")
    func evaluators() throws {
        let pin = PublicKeyPin(Self.keyA)
        let other = PublicKeyPin(Self.keyB)
        func policy(_ evaluator: TrustEvaluator) -> CacheRequester.Policy {
            CacheRequester.policy(evaluator, roots: "r")
        }
        #expect(policy(.default) == .standard(roots: "r"))
        #expect(policy(.pinnedKeys([pin])) == .pins([[Self.keyA]], roots: "r"))
        #expect(
            policy(.pinnedKeys([pin], validatesChain: false, checksHost: false))
                == .pins([[Self.keyA]], roots: nil))
        #expect(
            policy(.composite([.pinnedKeys([pin]), .pinnedKeys([other])]))
                == .pins([[Self.keyA], [Self.keyB]], roots: "r"))
        let closure = TrustEvaluator.custom { _, reply in reply(.success(())) }
        for evaluator in [
            .disabled, .system(checksHost: false), .pinnedCertificates([]), .revocation(), closure,
            .composite([.default, closure]),
            .pinnedCertificates([], acceptsSelfSigned: true, validatesChain: true),
        ] {
            #expect(
                policy(evaluator)
                    == .judge(TrustJudge(objects: [], evaluator: evaluator, roots: "r")), "\(evaluator)")
        }
    }

    @Test("[U-12.2] which responses may be written to disk")
    func written() {
        for (name, provenance) in Self.entries {
            let isWritten = !["judged1", "judged2", "aliceProxied"].contains(name)
            #expect(provenance.mayBeWritten == isWritten, "\(name)")
        }
        #expect(!Self.secure(isChainChecked: false).mayBeWritten)
        #expect(!Self.secure(roots: nil, isChainChecked: false).mayBeWritten)
    }

    @Test("[U-12.13] the provenance of an entry that a 304 over another connection has updated")
    func joined() {
        let (proven, unproven) = (Self.secure(keys: [Self.keyA, Self.keyB]), Self.secure(roots: nil))
        let rows: [(CacheProvenance, CacheProvenance, CacheProvenance?)] = [
            (proven, proven, proven), (.plain, .plain, .plain), (.program, proven, proven),
            (.program, .plain, .plain), (.plain, .program, .plain), (.plain, proven, nil),
            (proven, .plain, nil), (proven, .program, nil),
            (.plain, CacheProvenance(.plain(route: CacheRoute("http p:1"))), nil),
            (proven, unproven, unproven), (proven, Self.secure(roots: "mine"), unproven),
            (proven, Self.secure(keys: [Self.keyB]), Self.secure(keys: [Self.keyB])),
            (proven, Self.secure(judge: Self.judge(1)), nil),
            (proven, Self.secure(.certificate(Self.alice)), Self.secure(.certificate(Self.alice))),
            (Self.secure(.noCertificate), Self.secure(.certificate(Self.alice)), nil),
            (Self.secure(.certificate(Self.bob)), Self.secure(.certificate(Self.alice)), nil),
            (proven, Self.secure(isChainChecked: false), Self.secure(isChainChecked: false)),
        ]
        for (entry, update, expected) in rows {
            #expect(entry.joined(by: update) == expected, "\(entry.source), \(update.source)")
        }
    }

    @Test("[U-12.2] a response without HTTP fields does not count as public")
    func otherResponses() throws {
        let url = try #require(URL(string: "http://h/a"))
        let response = CachedURLResponse(
            response: URLResponse(
                url: url, mimeType: "image/png", expectedContentLength: 1, textEncodingName: nil),
            data: Data("a".utf8))
        let alice = try CacheStage.request("http://h/a", ["Cookie": "id=alice"])
        let bob = try CacheStage.request("http://h/a", ["Cookie": "id=bob"])
        let unidentified = try CacheStage.request("http://h/a")
        let stored = CacheEntry(response: response, for: alice, requestTime: Date(), responseTime: Date())
        let loaded = CacheEntry(
            response: response, for: alice, requestTime: Date(), responseTime: Date(), provenance: .plain,
            identifying: .defaultFields, writtenInfo: nil)
        for entry in [stored, loaded] {
            #expect(entry.answers(alice, of: .standard))
            #expect(!entry.answers(bob, of: .standard) && !entry.answers(unidentified, of: .standard))
        }
        let common = CacheEntry(
            response: response, for: unidentified, requestTime: Date(), responseTime: Date())
        #expect(common.answers(alice, of: .standard) && common.answers(unidentified, of: .standard))
    }

    static let naming: [(fields: [(String, String)], asked: [String: String], isKept: Bool)] = [
        ([("Set-Cookie", "id=a")], [:], false), ([], [:], true),
        ([("Set-Cookie", "id=a"), ("Cache-Control", "private, max-age=60")], [:], false),
        ([("Set-Cookie", "id=a"), ("Cache-Control", "public")], [:], true),
        ([("Set-Cookie", "id=a")], ["Cookie": "id=b"], true),
        ([("Set-Cookie", "id=a")], ["X-Api-Key": "k"], true),
        ([("Set-Cookie", "id=a")], ["Authorization": "Bearer t"], true),
    ]

    @Test("[U-12.5] a response that identifies its reader is not stored", arguments: naming)
    func namingAnswers(fields: [(String, String)], asked: [String: String], isKept: Bool) throws {
        let stage = CacheStage()
        let cache = stage.cache(disk: 0)
        let request = try CacheStage.request("http://h/a", asked)
        func entry(_ fields: [(String, String)]) throws -> CacheEntry {
            CacheEntry(
                response: try CacheStage.loaded("x", fields, url: "http://h/a"), for: request,
                requestTime: Date(),
                responseTime: Date(), provenance: .plain, identifying: .defaultFields, writtenInfo: nil)
        }
        let key = try #require(URLCache.defaultKey(of: request))
        func isThere() -> Bool {
            guard case .complete(.some) = cache.lookUpInMemory(key, request, for: .standard) else {
                return false
            }
            return true
        }
        // A response that is not kept also removes the previous one, and so does a 304.
        for isConfirmation in [false, true] {
            cache.store(try entry([]), for: request)
            #expect(isThere())
            let new = try entry(fields)
            if isConfirmation { cache.update(new, for: request) } else { cache.store(new, for: request) }
            #expect(isThere() == isKept)
        }
    }

    // MARK: parties in a store

    static func entry(_ content: String, _ provenance: CacheProvenance) throws -> CacheEntry {
        CacheEntry(
            response: try CacheStage.loaded(content), for: try CacheStage.request(), requestTime: Date(),
            responseTime: Date(), provenance: provenance, identifying: .defaultFields, writtenInfo: nil)
    }

    @Test(
        "[U-12.2] a URL has an entry for each party; the public methods see the plain one and remove all"
    )
    func parties() async throws {
        let request = try CacheStage.request()
        let alice = CacheRequester(policy: .standard(roots: "system"), client: Self.alice)
        let judged = CacheRequester(policy: .judge(Self.judge(1)))
        for disk in [0, 1 << 20] {
            for way in 0..<4 {
                let stage = CacheStage()
                var cache = stage.cache(disk: disk)
                cache.store(try Self.entry("alice", Self.secure(.certificate(Self.alice))), for: request)
                cache.store(
                    try Self.entry("judged", Self.secure(roots: nil, judge: Self.judge(1))), for: request)
                #expect(cache.content(request) == nil)
                #expect(await cache.lookUp(request) == nil)
                cache.store(try Self.entry("plain", Self.secure()), for: request)
                #expect(cache.content(request) == "plain")
                #expect(await cache.lookUp(request)?.content == "plain")
                #expect(await cache.lookUp(request, for: alice)?.content == "alice")
                #expect(await cache.lookUp(request, for: judged)?.content == "judged")
                cache.storeCachedResponse(try CacheStage.loaded("program"), for: request)
                #expect(await cache.lookUp(request)?.content == "program")
                #expect(await cache.lookUp(request, for: alice)?.content == "alice")
                if disk > 0 {
                    await cache.flush()
                    #expect(stage.entries.count == 2)
                    // Stands for another process, which has not read the folder yet.
                    cache = stage.cache(disk: disk)
                    if way > 1 {
                        #expect(await cache.lookUp(request, for: alice)?.content == "alice")
                        #expect(await cache.lookUp(request, for: judged)?.content == "program")
                    }
                }
                switch way {
                case 0, 2: cache.removeCachedResponse(for: request)
                case 1: cache.invalidate(try #require(request.url))
                default: cache.removeAllCachedResponses()
                }
                for reader in [.standard, alice, judged] {
                    #expect(await cache.lookUp(request, for: reader) == nil)
                }
                #expect(cache.content(request) == nil)
                await cache.flush()
                #expect(stage.entries.isEmpty, "\(disk), \(way)")
                cache.store(try Self.entry("again", Self.secure(.certificate(Self.alice))), for: request)
                #expect(await cache.lookUp(request, for: alice)?.content == "again")
                // Completes all writes before the stage removes its folder.
                await cache.flush()
            }
        }
    }

    @Test("[U-12.2] an entry's provenance survives the disk; an entry under another partition is ignored")
    func files() async throws {
        let request = try CacheStage.request()
        for (name, provenance) in Self.entries where provenance.mayBeWritten {
            let entry = try Self.entry("x", provenance)
            let octets = try #require(CacheEntryFormat.octets(of: entry, address: "http://h/a"))
            let read = try #require(CacheEntryFormat.entry(octets, address: "http://h/a"))
            #expect(
                CacheAdmission.admits(.standard, to: read.provenance)
                    == CacheAdmission.admits(.standard, to: provenance), "\(name)")
            #expect(read.provenance.partition == provenance.partition, "\(name)")
            // A judge is an object of one process and is not stored.
            if case .secure(let connection) = read.provenance.source { #expect(connection.judge == nil) }
        }
        let stage = CacheStage()
        try await stage.process { cache in
            cache.store(try Self.entry("alice", Self.secure(.certificate(Self.alice))), for: request)
        }
        let item = try #require(stage.entries.first.flatMap { stage.index[$0] })
        let plain = CacheStage.entry(try CacheStage.loaded("x"), for: request)
        let lie = CacheIndex.Record(
            location: item.location, storedTime: item.storedTime, terms: try #require(CacheTerms(plain)))
        let octets =
            CacheLog.head
            + CacheLog.batch(
                [.stored(CacheKey(address: "http://h/a", partition: nil), lie)], at: CacheLog.head.count)
        try Data(octets).write(to: stage.folder.appendingPathComponent("index"))
        let other = stage.cache()
        #expect(await other.lookUp(request) == nil && other.content(request) == nil)
        await other.flush()
        #expect(stage.entries.isEmpty)
    }

    // MARK: users

    @Test("[U-12.5] the fields that distinguish users")
    func users() throws {
        let ownFields = IdentifyingFields(["X-User"])
        let rows:
            [(
                summary: String, stored: [String: String], asked: [String: String], isPublic: Bool,
                isSame: Bool
            )] =
                [
                    ("nobody", [:], [:], false, true),
                    ("a cookie", ["Cookie": "alice"], ["Cookie": "alice"], false, true),
                    ("another cookie", ["Cookie": "alice"], ["Cookie": "bob"], false, false),
                    ("no cookie any more", ["Cookie": "alice"], [:], false, false),
                    ("a cookie now", [:], ["Cookie": "alice"], false, false),
                    ("a public page", ["Cookie": "alice"], ["Cookie": "bob", "X-User": "carol"], true, true),
                    (
                        "public, and a token", ["Authorization": "alice"], ["Authorization": "bob"], true,
                        false
                    ),
                    ("a user", ["x-user": "alice"], ["X-User": "alice"], false, true),
                    ("another user", ["X-User": "alice"], ["X-User": "bob"], false, false),
                    ("a field that is none", ["X-Other": "alice"], ["X-Other": "bob"], false, true),
                ]
        for row in rows {
            let lines = row.isPublic ? [("Cache-Control", "public, max-age=5")] : []
            let entry = CacheEntry(
                response: try CacheStage.loaded("x", lines),
                for: try CacheStage.request("http://h/a", row.stored),
                requestTime: Date(), responseTime: Date(), provenance: .plain, identifying: ownFields,
                writtenInfo: nil)
            let asked = try CacheStage.request("http://h/a", row.asked)
            let reader = CacheRequester(policy: .standard(roots: "system"), identifyingFields: ownFields)
            #expect(entry.answers(asked, of: reader) == row.isSame, "\(row.summary)")
            // A reader with other identifying fields cannot tell whose entry it is.
            #expect(entry.answers(asked, of: .standard) == (row.isPublic && row.isSame), "\(row.summary)")
            // The same holds for the entry on disk, which contains no secret, and for one that was read from there.
            let hash = KeyedHash(key: [1])
            let concealed = try #require(entry.vary.concealed(by: hash))
            for secret in row.stored.values {
                #expect(concealed.audience?.user.text?.contains(secret) != true)
                #expect(concealed.values.values.allSatisfy { $0.text?.contains(secret) != true })
            }
            #expect(
                concealed.matches(asked, identifying: ownFields, hash: hash) == row.isSame, "\(row.summary)")
            let stored = try CacheStage.request("http://h/a", row.stored)
            #expect(concealed.revealed(by: stored, identifying: ownFields) == entry.vary, "\(row.summary)")
        }
        for control in ["private, public", "public=x, private=\"Set-Cookie\"", "max-age=5", "PUBLIC"] {
            let entry = CacheEntry(
                response: try CacheStage.loaded("x", [("Cache-Control", control)]),
                for: try CacheStage.request(),
                requestTime: Date(), responseTime: Date(), provenance: .plain, identifying: ownFields,
                writtenInfo: nil)
            #expect((entry.vary.audience == nil) == (control == "PUBLIC"), "\(control)")
        }
    }

    @Test(
        "[U-12.5] the user of a URL counts like one in a field, unless the request has a field"
    )
    func namedUsers() throws {
        let (alice, bob, plain) = ("http://alice:a@h/a", "http://bob:b@h/a", "http://h/a")
        let aliceField = ["Authorization": "alice"]
        let rows: [(stored: String, [String: String], asked: String, [String: String], isSame: Bool)] = [
            (alice, [:], alice, [:], true), (alice, [:], bob, [:], false), (alice, [:], plain, [:], false),
            (alice, [:], "http://alice:other@h/a", [:], false), (plain, [:], alice, [:], false),
            (alice, aliceField, alice, aliceField, true), (alice, aliceField, plain, aliceField, true),
            (alice, aliceField, alice, [:], false),
            (alice, [:], plain, aliceField, false), (plain, [:], plain, [:], true),
        ]
        for (stored, fields, asked, other, isSame) in rows {
            let entry = CacheEntry(
                response: try CacheStage.loaded("x"), for: try CacheStage.request(stored, fields),
                requestTime: Date(), responseTime: Date(), provenance: .plain, identifying: .defaultFields,
                writtenInfo: nil)
            #expect(
                entry.answers(try CacheStage.request(asked, other), of: .standard) == isSame,
                "\(stored) \(fields), \(asked) \(other)")
        }
    }

    @Test(
        "[U-12.5] a response that the program stores for a user is returned to that user only, whichever field identifies it"
    )
    func storedByPrograms() throws {
        for (name, value) in [("Cookie", "alice"), ("X-Api-Key", "alice"), ("authorization", "alice")] {
            let stored = try CacheStage.request("http://h/a", [name: value])
            let entry = CacheStage.entry(try CacheStage.loaded("x"), for: stored)
            #expect(entry.answers(stored, of: .standard))
            for fields in [[:], [name: "bob"]] {
                let asked = try CacheStage.request("http://h/a", fields)
                #expect(!entry.answers(asked, of: .standard), "\(name), \(fields)")
            }
        }
    }

    // MARK: validators

    @Test("[U-12.13] which 304 applies to the stored response")
    func selected() throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let rows: [(stored: [(String, String)], update: [(String, String)], isSelected: Bool)] = [
            ([("ETag", "\"1\"")], [("ETag", "\"1\"")], true),
            ([("ETag", "\"1\"")], [("ETag", "\"2\"")], false),
            ([("ETag", "W/\"1\"")], [("ETag", "\"1\"")], true),
            ([("ETag", "W/\"1\"")], [("ETag", "W/\"2\"")], false),
            ([("ETag", "\"1\""), ("Last-Modified", date)], [("ETag", "\"1\"")], true),
            (
                [("ETag", "\"1\""), ("Last-Modified", date)], [("ETag", "\"2\""), ("Last-Modified", date)],
                false
            ),
            ([("ETag", "\"1\""), ("Last-Modified", date)], [("Last-Modified", date)], true),
            ([("Last-Modified", date)], [("Last-Modified", "Sunday, 06-Nov-94 08:49:37 GMT")], true),
            ([("Last-Modified", date)], [("Last-Modified", "Sun, 06 Nov 1994 08:49:38 GMT")], false),
            ([("Last-Modified", "x")], [("Last-Modified", "y")], false),
            ([("ETag", "\"1\"")], [("Last-Modified", date)], false),
            ([("Last-Modified", date)], [("ETag", "\"1\"")], false),
            ([("ETag", "\"1\"")], [], true), ([], [], true),
        ]
        let url = try #require(URL(string: "http://h/a"))
        for (stored, update, isSelected) in rows {
            let old = HTTPURLResponse(url: url, head: try CacheStage.head(stored), isDecoded: false)
            let new = HTTPURLResponse(
                url: url, head: try CacheStage.head(update, status: 304), isDecoded: false)
            #expect(CacheRule.selects(new, old) == isSelected, "\(stored), \(update)")
        }
    }
}
