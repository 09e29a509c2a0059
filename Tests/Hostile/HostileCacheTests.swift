// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Responses that a cache stored for one user, policy or way, and requests of others for them.
@Suite(.timeLimit(.minutes(10))) struct HostileCacheTests {
    typealias Policy = SharedCache.Policy

    // MARK: trust

    /// The result for a session with each policy, if the server is asked and not the cache.
    private static func ownEnd(_ policy: Policy, at leaf: String) -> SharedCache.End {
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
        "[U-12.2] what came over a connection that nobody checked is not given to who would have refused it",
        arguments: [Policy.disabled, .accepting, .reading], Policy.allCases)
    func unchecked(writer: Policy, reader: Policy) async throws {
        try await SharedCache.with(leaf: "untrusted") { shared in
            #expect(await shared.ask(writer) == .answer(1))
            #expect(await shared.ask(reader) == Self.ownEnd(reader, at: "untrusted"))
        }
    }

    @Test("[U-12.2] whoever trusts other authorities gets nothing, though their file has the old name")
    func replacedRoots() async throws {
        try await Self.withFolder { folder in
            let roots = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem")
            defer { try? FileManager.default.removeItem(at: roots) }
            try await SharedCache.with(cache: Self.cache(folder)) { shared in
                func ask() async -> SharedCache.End {
                    await shared.ask(.standard) {
                        $0.lupine.tls.roots = TrustRoots(includesSystem: false, files: [roots.path])
                    }
                }
                try Data(PKI.text("root.pem").utf8).write(to: roots)
                #expect(await ask() == .answer(1))
                #expect(await ask() == .answer(1))
                try Data(PKI.text("other-root.pem").utf8).write(to: roots)
                #expect(await ask() == .refused)
            }
        }
    }

    @Test(
        "[U-12.2] a session goes by the authorities that it has read, not by those of the time when it was made"
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
            #expect(await first.ask(url) == .answer(1))
            try Data(PKI.text("other-root.pem").utf8).write(to: roots)
            for other in [early, second, try session()] { #expect(await other.ask(url) == .refused) }
            #expect(await first.ask(url) == .answer(1))
            for session in [early, first, second] { session.end() }
        }
    }

    @Test("[U-12.2] what came through a proxy is not given to whoever would refuse the proxy")
    func judgedProxies() async throws {
        try await Self.withFolder { folder in
            try await SharedCache.with(cache: Self.cache(folder)) { shared in
                func ask(_ policy: SharedCache.Policy) async throws -> SharedCache.End {
                    let session = try shared.session(policy) {
                        $0.lupine.proxies = ["http_proxy": "https://localhost:\(shared.origin.port)"]
                    }
                    let end = await session.ask(try #require(URL(string: "http://server.test/a/1")))
                    await session.flush()
                    session.end()
                    return end
                }
                for (policy, end) in [
                    (SharedCache.Policy.standard, SharedCache.End.answer(1)), (.standard, .answer(1)),
                    (.otherRoots, .refused),
                ] {
                    let came = try await ask(policy)
                    #expect(came == end)
                }
                // The copy on the disk is not used either.
                shared.cache.memoryCapacity = 0
                let came = try await ask(.otherRoots)
                #expect(came == .refused)
            }
        }
    }

    @Test("[U-12.2] what a delegate accepted is given again under the same delegate, from memory alone")
    func sameObject() async throws {
        try await Self.withFolder { folder in
            try await SharedCache.with(leaf: "untrusted", cache: Self.cache(folder)) { shared in
                let session = try shared.session(.accepting)
                let url = try shared.url()
                #expect(await session.ask(url) == .answer(1))
                #expect(await session.ask(url) == .answer(1))
                await session.flush()
                #expect(Self.files(folder).isEmpty)
                session.end()
            }
        }
    }

    @Test("[U-12.2] what nobody has checked is not on the disk, whatever its chain is worth")
    func uncheckedIsNotWritten() async throws {
        for (leaf, policy, isWritten) in [
            ("untrusted", Policy.disabled, false), ("untrusted", .accepting, false),
            ("good", .disabled, false),
            ("good", .reading, false), ("good", .revocation, false), ("good", .ignoring, true),
            ("good", .standard, true), ("good", .pinsGood, true), ("good", .asking, true),
        ] {
            try await Self.withFolder { folder in
                try await SharedCache.with(leaf: leaf, cache: Self.cache(folder)) { shared in
                    let session = try shared.session(policy)
                    #expect(await session.ask(try shared.url()) == .answer(1))
                    await session.flush()
                    #expect(Self.files(folder).isEmpty == !isWritten, "\(leaf), \(policy)")
                    session.end()
                }
            }
        }
    }

    @Test("[U-12.2] a delegate without challenge methods counts as none once that is known")
    func listening() async throws {
        try await SharedCache.with { shared in
            let session = try shared.session(.listening)
            let (one, two) = (try shared.url("/a/1"), try shared.url("/a/2"))
            #expect(await shared.ask(.standard, "/a/2") == .answer(1))
            #expect(await session.ask(one) == .answer(2))
            // Its first connection has shown that the delegate does not handle challenges.
            #expect(await session.ask(two) == .answer(1))
            #expect(await shared.ask(.standard, "/a/1") == .answer(2))
            session.end()
        }
    }

    @Test(
        "[U-12.2] what a checked connection brought is on the disk for those alone whose policy it satisfies")
    func fromTheDisk() async throws {
        try await Self.withFolder { folder in
            try await SharedCache.with(cache: Self.cache(folder)) { shared in
                let session = try shared.session(.standard)
                #expect(await session.ask(try shared.url()) == .answer(1))
                await session.flush()
                session.end()
                for (reader, end) in [
                    (Policy.standard, SharedCache.End.answer(1)), (.pipeline, .answer(1)),
                    (.otherRoots, .refused), (.pinsOther, .refused), (.accepting, .answer(2)),
                ] {
                    let other = SharedCache(
                        origin: shared.origin, cache: Self.cache(folder), leaf: shared.leaf,
                        numbers: shared.numbers)
                    #expect(await other.ask(reader) == end, "\(reader)")
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

    @Test("[U-12.2] a resumed connection is worth what its first handshake was", arguments: [true, false])
    func resumed(isIdentified: Bool) async throws {
        try await SharedCache.with(asksForIdentity: true) { shared in
            let configuration = try shared.configuration { configuration in
                if isIdentified { configuration.lupine.tls.identity = try Self.identity("client-ecdsa") }
                configuration.httpMaximumConnectionsPerHost = 1
            }
            let session = PolicySession.plain(URLSession(configuration: configuration))
            #expect(await session.ask(try shared.url("/a/1")) == .answer(1))
            // The next connection must resume this one's TLS session.
            await session.flush()
            #expect(await session.ask(try shared.url("/a/2")) == .answer(2))
            #expect(await shared.origin.handshake(on: 1)?.info?.isResumed == true)
            session.end()
            let stranger = await shared.ask(.standard, "/a/2")
            #expect(stranger == (isIdentified ? .answer(3) : .answer(2)))
        }
    }

    @Test(
        "[U-12.2] what a checked connection brought is for those alone whose own policy it satisfies",
        arguments: [
            (Policy.standard, true), (.pipeline, true), (.disabled, false), (.pinsGood, false),
            (.pinsOther, false), (.accepting, false), (.asking, false), (.subclass, false),
            (.otherRoots, false),
        ])
    func checked(reader: Policy, isGiven: Bool) async throws {
        try await SharedCache.with { shared in
            #expect(await shared.ask(.standard) == .answer(1))
            let end = await shared.ask(reader)
            #expect(end == (isGiven ? .answer(1) : Self.ownEnd(reader, at: "good")))
        }
    }

    // MARK: identity

    @Test(
        "[U-12.2] what a client certificate was shown for is given to that identity alone",
        arguments: ["client-rsa", nil])
    func identities(reader: String?) async throws {
        try await SharedCache.with(asksForIdentity: true) { shared in
            let writer = await shared.ask(.standard) { configuration in
                configuration.lupine.tls.identity = try Self.identity("client-ecdsa")
            }
            #expect(writer == .answer(1))
            let other = await shared.ask(.standard) { configuration in
                if let reader { configuration.lupine.tls.identity = try Self.identity(reader) }
            }
            #expect(other == .answer(2))
            let same = await shared.ask(.standard) { configuration in
                configuration.lupine.tls.identity = try Self.identity("client-ecdsa")
            }
            #expect(same == .answer(1))
        }
    }

    static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: PKI.text("\(name)-chain.pem"), pemKey: PKI.text("\(name).key"))
    }

    // MARK: users

    @Test("[U-12.5] what answers a cookie is given to that cookie alone")
    func cookies() async throws {
        try await SharedCache.with(leaf: nil) { shared in
            let (alice, bob) = (["Cookie": "sid=alice"], ["Cookie": "sid=bob"])
            #expect(await shared.ask(.standard, "/a/1", alice) == .answer(1))
            #expect(await shared.ask(.standard, "/a/1", bob) == .answer(2))
            #expect(await shared.ask(.standard) == .answer(3))
        }
    }

    @Test("[U-12.5] what answers one key of a user is given to that key alone, unless it is public")
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
                #expect(await shared.ask(.standard, "/a/1", alice, configure) == .answer(1))
                #expect(await shared.ask(.standard, "/a/1", bob, configure) == .answer(isPublic ? 1 : 2))
            }
        }
    }

    // MARK: the way

    @Test("[U-12.5] what one server at an address said is not given as another's", arguments: [nil, "good"])
    func servers(_ leaf: String?) async throws {
        try await SharedCache.with(leaf: leaf) { shared in
            let session = try shared.session(.standard)
            let url = try shared.url()
            let own = "localhost:\(shared.origin.port)"
            #expect(await session.ask(url, ["Host": "a.example"]) == .answer(1))
            #expect(await session.ask(url, ["Host": "b.example"]) == .answer(2))
            #expect(await session.ask(url) == .answer(3))
            // Only the newest response is kept; host names are compared without regard to case.
            #expect(await session.ask(url, ["Host": own.uppercased()]) == .answer(3))
            #expect(await session.ask(url, ["Host": "a.example"]) == .answer(4))
            #expect(await session.ask(url, ["host": "A.example"]) == .answer(4))
            session.end()
        }
    }

    @Test("[U-12.2] what came through a proxy without TLS is given to those alone who would ask that proxy")
    func proxies() async throws {
        try await SharedCache.with(leaf: nil) { shared in
            let proxied = { (configuration: URLSessionConfiguration) in
                configuration.lupine.proxies = [
                    "http_proxy": "http://127.0.0.1:\(shared.origin.port)"
                ]
            }
            #expect(await shared.ask(.standard, "/a/1", [:], proxied) == .answer(1))
            #expect(await shared.ask(.standard, "/a/1") == .answer(2))
            #expect(await shared.ask(.standard, "/a/1") == .answer(2))
            #expect(await shared.ask(.standard, "/a/1", [:], proxied) == .answer(3))
            let led = { (configuration: URLSessionConfiguration) in
                configuration.lupine.addressOverrides = [:]
            }
            #expect(await shared.ask(.standard, "/a/1", [:], led) == .answer(4))
        }
    }

    @Test("[U-12.2] what a proxy that knew one user brought is not given to another, and not written")
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
                    #expect(await session.ask(try shared.url()) == .answer(number), "\(user ?? "nobody")")
                    await session.flush()
                    session.end()
                    #expect(Self.files(folder).isEmpty == (user != nil))
                }
            }
        }
    }

    @Test("[U-12.4] what depends on a field for proxies is not stored")
    func variesByProxy() async throws {
        try await SharedCache.with(
            leaf: nil, [("Cache-Control", "max-age=1000"), ("Vary", "Accept, proxy-authorization")]
        ) { shared in
            #expect(await shared.ask(.standard) == .answer(1))
            #expect(await shared.ask(.standard) == .answer(2))
        }
    }

    // MARK: validators

    @Test("[U-12.13] a 304 with another ETag than the one asked about does not relabel what is stored")
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
            #expect(await shared.ask(.standard, "/tagged") == .answer(1))
            // The second request validates, the third loads.
            #expect(await shared.ask(.standard, "/tagged") == .answer(3))
            let stored = shared.cache.cachedResponse(for: URLRequest(url: try shared.url("/tagged")))
            #expect(stored?.data == Data("3".utf8))
        }
    }
}
