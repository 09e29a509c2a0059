// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Responses that a cache has stored for one user, trust policy or proxy, and requests of others for them.
@Suite(.timeLimit(.minutes(10))) struct HostileCacheTests {
    typealias Policy = SharedCache.Policy

    // MARK: trust

    /// Returns the outcome for a session with this policy if its request goes to the server, not to the cache.
    private static func outcomeAtServer(_ policy: Policy, at leaf: String) -> SharedCache.Outcome {
        switch (policy, leaf) {
        case (.disabled, _), (.accepting, _), (.reading, _), (.ignoring, _): .answer(2)
        case (.standard, "good"), (.listening, "good"), (.pipeline, "good"), (.asking, "good"),
            (.subclass, "good"), (.pinsGood, "good"), (.otherRoots, "untrusted"),
            (.revocation, "good"), (.pinsUntrusted, "untrusted"):
            .answer(2)
        default: .refused
        }
    }

    @Test(
        "[U-12.2] an unchecked response is not given to a session that would refuse the server",
        arguments: [Policy.disabled, .accepting, .reading], Policy.allCases)
    func unchecked(writer: Policy, reader: Policy) async throws {
        try await SharedCache.with(leaf: "untrusted") { shared in
            #expect(await shared.fetch(writer) == .answer(1))
            #expect(await shared.fetch(reader) == Self.outcomeAtServer(reader, at: "untrusted"))
        }
    }

    @Test(
        "[U-12.2] a response is not given to a session whose root file has been replaced under the same name")
    func replacedRoots() async throws {
        try await Self.withFolder { folder in
            let roots = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem")
            defer { try? FileManager.default.removeItem(at: roots) }
            try await SharedCache.with(cache: Self.cache(folder)) { shared in
                func fetch() async -> SharedCache.Outcome {
                    await shared.fetch(.standard) {
                        $0.lupine.tls.roots = TrustRoots(includesSystem: false, files: [roots.path])
                    }
                }
                try Data(PKI.text("root.pem").utf8).write(to: roots)
                #expect(await fetch() == .answer(1))
                #expect(await fetch() == .answer(1))
                try Data(PKI.text("other-root.pem").utf8).write(to: roots)
                #expect(await fetch() == .refused)
            }
        }
    }

    @Test(
        "[U-12.2] the roots of a session are those that it has read, not those when it was created"
    )
    func rootsOfLivingSessions() async throws {
        let roots = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: roots) }
        try await SharedCache.with { shared in
            func session() throws -> PolicySession {
                try shared.session(.standard) {
                    $0.lupine.tls.roots = TrustRoots(includesSystem: false, files: [roots.path])
                }
            }
            let url = try shared.url()
            let early = try session()
            try Data(PKI.text("root.pem").utf8).write(to: roots)
            let (first, second) = (try session(), try session())
            #expect(await first.fetch(url) == .answer(1))
            try Data(PKI.text("other-root.pem").utf8).write(to: roots)
            for other in [early, second, try session()] { #expect(await other.fetch(url) == .refused) }
            #expect(await first.fetch(url) == .answer(1))
            for session in [early, first, second] { session.invalidate() }
        }
    }

    @Test("[U-12.2] a response through a proxy is not given to a session that would refuse the proxy")
    func refusedProxies() async throws {
        try await Self.withFolder { folder in
            try await SharedCache.with(cache: Self.cache(folder)) { shared in
                func fetch(_ policy: SharedCache.Policy) async throws -> SharedCache.Outcome {
                    let session = try shared.session(policy) {
                        $0.lupine.proxies = ["http_proxy": "https://localhost:\(shared.origin.port)"]
                    }
                    let outcome = await session.fetch(try #require(URL(string: "http://server.test/a/1")))
                    await session.flush()
                    session.invalidate()
                    return outcome
                }
                for (policy, expected) in [
                    (SharedCache.Policy.standard, SharedCache.Outcome.answer(1)), (.standard, .answer(1)),
                    (.otherRoots, .refused),
                ] {
                    let outcome = try await fetch(policy)
                    #expect(outcome == expected)
                }
                // The copy on the disk is not used either.
                shared.cache.memoryCapacity = 0
                let outcome = try await fetch(.otherRoots)
                #expect(outcome == .refused)
            }
        }
    }

    @Test(
        "[U-12.2] a response that a delegate accepted is given to that delegate, and kept in memory only"
    )
    func sameDelegate() async throws {
        try await Self.withFolder { folder in
            try await SharedCache.with(leaf: "untrusted", cache: Self.cache(folder)) { shared in
                let session = try shared.session(.accepting)
                let url = try shared.url()
                #expect(await session.fetch(url) == .answer(1))
                #expect(await session.fetch(url) == .answer(1))
                await session.flush()
                #expect(Self.files(folder).isEmpty)
                session.invalidate()
            }
        }
    }

    @Test(
        "[U-12.2] a response from an unchecked connection is not written to disk, even if its chain is valid")
    func uncheckedIsNotStoredOnDisk() async throws {
        for (leaf, policy, isStoredOnDisk) in [
            ("untrusted", Policy.disabled, false), ("untrusted", .accepting, false),
            ("good", .disabled, false),
            ("good", .reading, false), ("good", .revocation, false), ("good", .ignoring, true),
            ("good", .standard, true), ("good", .pinsGood, true), ("good", .asking, true),
        ] {
            try await Self.withFolder { folder in
                try await SharedCache.with(leaf: leaf, cache: Self.cache(folder)) { shared in
                    let session = try shared.session(policy)
                    #expect(await session.fetch(try shared.url()) == .answer(1))
                    await session.flush()
                    #expect(Self.files(folder).isEmpty == !isStoredOnDisk, "\(leaf), \(policy)")
                    session.invalidate()
                }
            }
        }
    }

    @Test("[U-12.2] a delegate counts as none once it has shown that it handles no challenges")
    func listening() async throws {
        try await SharedCache.with { shared in
            let session = try shared.session(.listening)
            let (one, two) = (try shared.url("/a/1"), try shared.url("/a/2"))
            #expect(await shared.fetch(.standard, "/a/2") == .answer(1))
            #expect(await session.fetch(one) == .answer(2))
            // Its first connection has shown that the delegate does not handle challenges.
            #expect(await session.fetch(two) == .answer(1))
            #expect(await shared.fetch(.standard, "/a/1") == .answer(2))
            session.invalidate()
        }
    }

    @Test(
        "[U-12.2] a response on disk is given only to a session whose policy its connection satisfies"
    )
    func fromTheDisk() async throws {
        try await Self.withFolder { folder in
            try await SharedCache.with(cache: Self.cache(folder)) { shared in
                let session = try shared.session(.standard)
                #expect(await session.fetch(try shared.url()) == .answer(1))
                await session.flush()
                session.invalidate()
                for (reader, expected) in [
                    (Policy.standard, SharedCache.Outcome.answer(1)), (.pipeline, .answer(1)),
                    (.otherRoots, .refused), (.pinsOther, .refused), (.accepting, .answer(2)),
                ] {
                    let other = SharedCache(
                        origin: shared.origin, cache: Self.cache(folder), leaf: shared.leaf,
                        numbers: shared.numbers)
                    #expect(await other.fetch(reader) == expected, "\(reader)")
                }
            }
        }
    }

    private static func cache(_ folder: URL) -> URLCache {
        URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: folder)
    }

    private static func files(_ folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test("[U-12.2] a resumed connection has the identity of its first handshake", arguments: [true, false])
    func resumed(isIdentified: Bool) async throws {
        try await SharedCache.with(asksForIdentity: true) { shared in
            let configuration = try shared.configuration { configuration in
                if isIdentified { configuration.lupine.tls.identity = try Self.identity("client-ecdsa") }
                configuration.httpMaximumConnectionsPerHost = 1
            }
            let session = PolicySession.plain(URLSession(configuration: configuration))
            #expect(await session.fetch(try shared.url("/a/1")) == .answer(1))
            // The next connection must resume this one's TLS session.
            await session.flush()
            #expect(await session.fetch(try shared.url("/a/2")) == .answer(2))
            #expect(await shared.origin.handshake(on: 1)?.info?.isResumed == true)
            session.invalidate()
            let withoutIdentity = await shared.fetch(.standard, "/a/2")
            #expect(withoutIdentity == (isIdentified ? .answer(3) : .answer(2)))
        }
    }

    @Test(
        "[U-12.2] a stored response is given only to a session whose policy its connection satisfies",
        arguments: [
            (Policy.standard, true), (.pipeline, true), (.disabled, false), (.pinsGood, false),
            (.pinsOther, false), (.accepting, false), (.asking, false), (.subclass, false),
            (.otherRoots, false),
        ])
    func checked(reader: Policy, isGiven: Bool) async throws {
        try await SharedCache.with { shared in
            #expect(await shared.fetch(.standard) == .answer(1))
            let outcome = await shared.fetch(reader)
            #expect(outcome == (isGiven ? .answer(1) : Self.outcomeAtServer(reader, at: "good")))
        }
    }

    // MARK: identity

    @Test(
        "[U-12.2] a response to a client certificate is given to that identity only",
        arguments: ["client-rsa", nil])
    func identities(reader: String?) async throws {
        try await SharedCache.with(asksForIdentity: true) { shared in
            let writer = await shared.fetch(.standard) { configuration in
                configuration.lupine.tls.identity = try Self.identity("client-ecdsa")
            }
            #expect(writer == .answer(1))
            let other = await shared.fetch(.standard) { configuration in
                if let reader { configuration.lupine.tls.identity = try Self.identity(reader) }
            }
            #expect(other == .answer(2))
            let same = await shared.fetch(.standard) { configuration in
                configuration.lupine.tls.identity = try Self.identity("client-ecdsa")
            }
            #expect(same == .answer(1))
        }
    }

    static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: PKI.text("\(name)-chain.pem"), pemKey: PKI.text("\(name).key"))
    }

    // MARK: users

    @Test("[U-12.5] a response to a request with a cookie is given only to requests with that cookie")
    func cookies() async throws {
        try await SharedCache.with(leaf: nil) { shared in
            let (alice, bob) = (["Cookie": "sid=alice"], ["Cookie": "sid=bob"])
            #expect(await shared.fetch(.standard, "/a/1", alice) == .answer(1))
            #expect(await shared.fetch(.standard, "/a/1", bob) == .answer(2))
            #expect(await shared.fetch(.standard) == .answer(3))
        }
    }

    @Test("[U-12.5] a response to one API key is given only to requests with that key, unless it is public")
    func keys() async throws {
        for (isPublic, names, field) in [
            (false, nil, "X-Api-Key"), (false, ["x-tenant"], "X-Tenant"), (true, ["X-Tenant"], "X-Tenant"),
            (true, nil, "Cookie"),
        ] {
            let control = isPublic ? "public, max-age=1000" : "max-age=1000"
            try await SharedCache.with(leaf: nil, [("Cache-Control", control)]) { shared in
                let configure = { (configuration: URLSessionConfiguration) in
                    if let names { configuration.lupine.identifyingFields = Set(names) }
                }
                let (alice, bob) = ([field: "alice"], [field: "bob"])
                #expect(await shared.fetch(.standard, "/a/1", alice, configure) == .answer(1))
                #expect(await shared.fetch(.standard, "/a/1", bob, configure) == .answer(isPublic ? 1 : 2))
            }
        }
    }

    // MARK: servers and proxies

    @Test(
        "[U-12.5] a response to one Host is not given to requests for another Host", arguments: [nil, "good"])
    func servers(_ leaf: String?) async throws {
        try await SharedCache.with(leaf: leaf) { shared in
            let session = try shared.session(.standard)
            let url = try shared.url()
            let own = "localhost:\(shared.origin.port)"
            #expect(await session.fetch(url, ["Host": "a.example"]) == .answer(1))
            #expect(await session.fetch(url, ["Host": "b.example"]) == .answer(2))
            #expect(await session.fetch(url) == .answer(3))
            // Only the newest response is kept; host names are compared without regard to case.
            #expect(await session.fetch(url, ["Host": own.uppercased()]) == .answer(3))
            #expect(await session.fetch(url, ["Host": "a.example"]) == .answer(4))
            #expect(await session.fetch(url, ["host": "A.example"]) == .answer(4))
            session.invalidate()
        }
    }

    @Test(
        "[U-12.2] what outcome through a proxy without TLS is given to those alone who would ask that proxy")
    func proxies() async throws {
        try await SharedCache.with(leaf: nil) { shared in
            let proxied = { (configuration: URLSessionConfiguration) in
                configuration.lupine.proxies = [
                    "http_proxy": "http://127.0.0.1:\(shared.origin.port)"
                ]
            }
            #expect(await shared.fetch(.standard, "/a/1", [:], proxied) == .answer(1))
            #expect(await shared.fetch(.standard, "/a/1") == .answer(2))
            #expect(await shared.fetch(.standard, "/a/1") == .answer(2))
            #expect(await shared.fetch(.standard, "/a/1", [:], proxied) == .answer(3))
            let withoutOverrides = { (configuration: URLSessionConfiguration) in
                configuration.lupine.addressOverrides = [:]
            }
            #expect(await shared.fetch(.standard, "/a/1", [:], withoutOverrides) == .answer(4))
        }
    }

    @Test(
        "[U-12.2] a response to a proxy's user is not given to another user, and not written to disk"
    )
    func usersOfProxies() async throws {
        try await Self.withFolder { folder in
            try await SharedCache.with(leaf: nil, cache: Self.cache(folder)) { shared in
                let visits: [(user: String?, number: Int)] = [
                    ("alice:one", 1), ("alice:one", 1), ("bob:two", 2), ("bob:guessed", 3),
                    // A colon in the name, and one in the password.
                    ("a%3Ab:c", 4), ("a:b%3Ac", 5), (nil, 6), (nil, 6),
                ]
                for (user, number) in visits {
                    let session = try shared.session(.standard) { configuration in
                        let name = user.map { "\($0)@" } ?? ""
                        configuration.lupine.proxies = [
                            "http_proxy": "http://\(name)127.0.0.1:\(shared.origin.port)"
                        ]
                    }
                    #expect(await session.fetch(try shared.url()) == .answer(number), "\(user ?? "nobody")")
                    await session.flush()
                    session.invalidate()
                    #expect(Self.files(folder).isEmpty == (user != nil))
                }
            }
        }
    }

    @Test("[U-12.4] a response that varies by a field for proxies is not stored")
    func variesByProxy() async throws {
        try await SharedCache.with(
            leaf: nil, [("Cache-Control", "max-age=1000"), ("Vary", "Accept, proxy-authorization")]
        ) { shared in
            #expect(await shared.fetch(.standard) == .answer(1))
            #expect(await shared.fetch(.standard) == .answer(2))
        }
    }

    // MARK: validators

    @Test("[U-12.13] a 304 with another ETag than the requested one does not change the stored response")
    func foreignTag() async throws {
        try await SharedCache.with(leaf: nil) { shared in
            shared.origin.route("GET", "/tagged") { [numbers = shared.numbers] request throws(Refusal) in
                let number = numbers.next
                guard request.field("If-None-Match") == nil else {
                    var response = OriginResponse(304)
                    try response.add("ETag", "\"v2\"")
                    return response
                }
                var response = try OriginResponse(200, "text/plain", Array("\(number)".utf8))
                try response.add("ETag", number == 1 ? "\"v1\"" : "\"v2\"")
                try response.add("Cache-Control", "max-age=0")
                return response
            }
            #expect(await shared.fetch(.standard, "/tagged") == .answer(1))
            // The second request is conditional; the third loads the response again.
            #expect(await shared.fetch(.standard, "/tagged") == .answer(3))
            let stored = shared.cache.cachedResponse(for: URLRequest(url: try shared.url("/tagged")))
            #expect(stored?.data == Data("3".utf8))
        }
    }
}
