// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

struct CacheRuleTests {
    static func request(_ fields: [String: String] = [:], method: String = "GET", url: String = "http://h/a")
        throws
        -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        return request
    }

    static func response(_ fields: [String: String] = [:], status: Int = 200) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://h/a"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    @Test("[U-12.2] a key is the URL without its fragment")
    func key() throws {
        let rows = [
            ("http://h/a?b=c#d", "http://h/a?b=c"), ("https://h/a", "https://h/a"),
            ("http://h:8080/", "http://h:8080/"),
            ("http://h/a?b#", "http://h/a?b"),
        ]
        for (url, key) in rows { #expect(CacheRule.key(of: try #require(URL(string: url))) == key) }
    }

    private static func names(_ count: Int) -> String {
        (0..<count).map { "X-\($0)" }.joined(separator: ", ")
    }

    static let storable:
        [(
            summary: String, method: String, request: [String: String], status: Int,
            response: [String: String],
            isStorable: Bool
        )] = [
            ("plain", "GET", [:], 200, [:], true), ("203", "GET", [:], 203, [:], true),
            ("204", "GET", [:], 204, [:], true),
            ("public", "GET", [:], 200, ["Cache-Control": "public"], true),
            ("private", "GET", [:], 200, ["Cache-Control": "private"], true),
            ("max-age=0", "GET", [:], 200, ["Cache-Control": "max-age=0"], true),
            ("no-cache", "GET", [:], 200, ["Cache-Control": "no-cache"], true),
            ("POST", "POST", [:], 200, [:], false),
            ("HEAD", "HEAD", [:], 200, [:], false), ("206", "GET", [:], 206, [:], false),
            ("301", "GET", [:], 301, [:], false),
            ("404", "GET", [:], 404, [:], false), ("500", "GET", [:], 500, [:], false),
            ("range", "GET", ["Range": "bytes=0-"], 200, [:], false),
            ("no-store", "GET", [:], 200, ["Cache-Control": "No-Store"], false),
            ("§5.2.2.3", "GET", [:], 200, ["Cache-Control": "must-understand, no-store"], false),
            ("request no-store", "GET", ["Cache-Control": "no-store"], 200, [:], false),
            ("Vary: *", "GET", [:], 200, ["Vary": "Accept, *"], false),
            ("Vary", "GET", [:], 200, ["Vary": "Accept"], true),
            ("Vary: Proxy-Authorization", "GET", [:], 200, ["Vary": "Accept, Proxy-Authorization"], false),
            ("64 names", "GET", [:], 200, ["Vary": names(64)], true),
            ("65 names", "GET", [:], 200, ["Vary": names(65)], false),
            ("Vary: proxy-x", "GET", [:], 200, ["Vary": "proxy-x"], false),
        ]

    @Test("[U-12.4, U-12.7] which responses may be stored", arguments: storable)
    func storableResponses(
        summary: String, method: String, request: [String: String], status: Int, response: [String: String],
        isStorable: Bool
    ) throws {
        let request = try Self.request(request, method: method)
        let response = try Self.response(response, status: status)
        #expect(CacheRule.isStorable(response, for: request) == isStorable, "\(summary)")
    }

    static let none = CachePlan.StoredResponse.nothing
    static let fresh = CachePlan.StoredResponse.fresh(hasValidator: true)
    static let freshBare = CachePlan.StoredResponse.fresh(hasValidator: false)
    static let stale = CachePlan.StoredResponse.stale(hasValidator: true)
    static let staleBare = CachePlan.StoredResponse.stale(hasValidator: false)

    static let plans: [(policy: URLRequest.CachePolicy, plans: [CachePlan])] = [
        (.useProtocolCachePolicy, [.useStored, .useStored, .revalidate, .load, .load]),
        (.reloadIgnoringLocalCacheData, [.load, .load, .load, .load, .load]),
        (
            .reloadIgnoringLocalAndRemoteCacheData,
            [.loadFromOrigin, .loadFromOrigin, .loadFromOrigin, .loadFromOrigin, .loadFromOrigin]
        ),
        (.returnCacheDataElseLoad, [.useStored, .useStored, .useStored, .useStored, .load]),
        (.returnCacheDataDontLoad, [.useStored, .useStored, .useStored, .useStored, .fail]),
        (.reloadRevalidatingCacheData, [.revalidate, .load, .revalidate, .load, .load]),
    ]

    @Test("[U-12.11] each cache policy, with a stored response", arguments: plans)
    func planOfPolicy(policy: URLRequest.CachePolicy, plans: [CachePlan]) throws {
        let stored = [Self.fresh, Self.freshBare, Self.stale, Self.staleBare, Self.none]
        let request = try Self.request()
        let alone = try Self.request(["Cache-Control": "only-if-cached"])
        for (stored, plan) in zip(stored, plans) {
            #expect(CachePlan.plan(for: request, policy: policy, stored: stored) == plan)
            let offline: CachePlan = plan == .useStored ? .useStored : .fail
            #expect(CachePlan.plan(for: alone, policy: policy, stored: stored) == offline)
        }
    }

    @Test("[U-12.12] the request's policy counts unless it is the default")
    func effectivePolicy() throws {
        var request = try Self.request()
        #expect(
            CachePlan.policy(of: request, configuration: .returnCacheDataDontLoad) == .returnCacheDataDontLoad
        )
        request.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(
            CachePlan.policy(of: request, configuration: .returnCacheDataDontLoad)
                == .reloadIgnoringLocalCacheData)
    }

    @Test(
        "[U-12.14] a request with conditions of the caller's bypasses the cache",
        arguments: CachePlan.callerConditions)
    func aCallerWithConditionsDoesItsOwnCaching(name: String) throws {
        let request = try Self.request([name.lowercased(): "x"])
        #expect(CachePlan.plan(for: request, policy: .returnCacheDataElseLoad, stored: Self.fresh) == .bypass)
    }

    @Test("[U-12.13] conditions repeat the validators of the stored response verbatim")
    func conditions() throws {
        let both = try Self.response(["ETag": "W/\"a\"", "Last-Modified": "not a date"])
        #expect(
            CacheRule.conditions(of: both) == [
                HeaderList.Field(name: "If-None-Match", value: "W/\"a\""),
                HeaderList.Field(name: "If-Modified-Since", value: "not a date"),
            ])
        #expect(CacheRule.conditions(of: try Self.response()).isEmpty)
    }

    @Test("[U-12.13] a 304 refreshes the fields")
    func refreshing() throws {
        var stored = Fields()
        for (name, value) in [
            ("Content-Length", "5"), ("Content-Encoding", "gzip"), ("ETag", "a"), ("X", "1"), ("x", "2"),
            ("Y", "3"),
        ] { try stored.append(FieldName(name), value) }
        var update = Fields()
        for (name, value) in [
            ("content-length", "0"), ("Content-Encoding", "br"), ("Connection", "close, Hop"), ("Hop", "1"),
            ("X", "4"), ("X", "5"), ("Date", "now"), ("etag", "b"),
        ] { try update.append(FieldName(name), value) }
        // The octets of a value are kept, also those that are not UTF-8.
        try update.append(FieldName("Z"), [0xE9, 0x21].span)
        let fields = CacheRule.refreshed(stored, by: update)
        #expect(fields.withFirstValue(of: try FieldName("Z")) { $0.count == 2 && $0[0] == 0xE9 } == true)
        let lines = (0..<fields.count).map { fields.name(at: $0) + ": " + fields.value(at: $0) }
        #expect(
            lines == [
                "Content-Length: 5", "Content-Encoding: gzip", "Y: 3", "X: 4", "X: 5", "Date: now", "etag: b",
                "Z: é!",
            ])
    }

    static let voidings: [(method: String, status: Int, fields: [String: String], urls: [String])] = [
        ("POST", 200, [:], ["http://h/a"]), ("DELETE", 302, [:], ["http://h/a"]), ("PUT", 404, [:], []),
        ("POST", 500, [:], []), ("GET", 200, ["Location": "/b"], []), ("HEAD", 200, [:], []),
        ("OPTIONS", 200, [:], []), ("POST", 201, ["Location": "/b"], ["http://h/a", "http://h/b"]),
        (
            "POST", 201, ["Content-Location": "http://H:80/c", "Location": "b"],
            ["http://h/a", "http://h/b", "http://H:80/c"]
        ),
        ("POST", 201, ["Location": "http://other/b", "Content-Location": "https://h/a"], ["http://h/a"]),
        ("POST", 201, ["Location": "http://h:8080/b"], ["http://h/a"]),
    ]

    @Test(
        "[U-12.8] an unsafe request invalidates its URL, and those of its origin that the response names",
        arguments: voidings)
    func voiding(method: String, status: Int, fields: [String: String], urls: [String]) throws {
        let voided = CacheRule.invalidatedURLs(
            by: try Self.request(method: method), response: try Self.response(fields, status: status))
        #expect(voided.map(\.absoluteString) == urls)
    }

    static let varies: [(vary: String?, stored: [String: String], asked: [String: String], isSame: Bool)] = [
        (nil, [:], ["Accept": "x"], true), ("Accept", ["Accept": "a"], ["accept": "a"], true),
        ("Accept", ["Accept": "a"], ["Accept": "b"], false), ("Accept", ["Accept": "a"], [:], false),
        ("Accept", [:], ["Accept": "a"], false), ("Accept", [:], [:], true),
        ("accept , X", ["Accept": "a, b", "X": "1"], ["Accept": " a ,\t b ", "X": "1"], true),
        ("Accept", ["Accept": "a  b"], ["Accept": "a b"], true),
        ("Accept", ["Accept": "ab"], ["Accept": "a b"], false),
        ("Accept, X", ["Accept": "a", "X": "1"], ["Accept": "a", "X": "2"], false),
        ("Accept", ["Accept": "a"], ["Accept": "A"], false),
        (nil, ["Authorization": "s"], ["Authorization": "s"], true),
        (nil, ["Authorization": "s"], ["Authorization": "t"], false),
        (nil, ["Authorization": "s"], [:], false),
        (nil, [:], ["Authorization": "s"], false), ("Cookie", ["Cookie": "s"], ["Cookie": "t"], false),
        ("Cookie", ["Cookie": "s"], ["Cookie": "s"], true), ("*", [:], [:], false),
        ("Accept, *", ["Accept": "a"], ["Accept": "a"], false),
        ("Proxy-Authorization", [:], [:], false),
    ]

    @Test("[U-12.11] a stored response is used for requests with the same Vary fields", arguments: varies)
    func varying(vary: String?, stored: [String: String], asked: [String: String], isSame: Bool) throws {
        let (stored, asked) = (try Self.request(stored), try Self.request(asked))
        let key = VaryKey(vary: vary, request: stored)
        #expect(key.matches(asked) == isSame)
        #expect(VaryKey(values: key.values, audience: key.audience) == key)
        // A key on disk answers the same requests, and has no secret.
        let hash = KeyedHash(key: [1, 2, 3])
        let concealed = try #require(key.concealed(by: hash))
        #expect(key.mustBeConcealed == concealed.isConcealed && !concealed.mustBeConcealed)
        #expect((key.concealed(by: nil) == nil) == key.mustBeConcealed)
        let secrets = key.values.filter { $0.value != .absent && !$0.key.hasPrefix("accept") }
        for (name, value) in secrets {
            #expect(concealed.values[name] == value.text.map { .concealed(hash.hexDigits(of: $0)) })
        }
        #expect(concealed.isConcealed == !secrets.isEmpty && !key.isConcealed)
        #expect(concealed.matches(asked, hash: hash) == isSame)
        #expect(concealed.matches(asked) == (isSame && secrets.isEmpty))
        #expect(!concealed.isConcealed || !concealed.matches(stored, hash: KeyedHash(key: [4])))
        #expect(concealed.revealed(by: stored, identifying: .defaultFields) == key)
    }

    @Test func cachedResponsesAreValues() throws {
        let response = try Self.response(["A": "b"])
        let cached = CachedURLResponse(response: response, data: Data([1]))
        #expect(cached.storagePolicy == .allowed && cached.userInfo == nil)
        #expect(cached == CachedURLResponse(response: try Self.response(["A": "b"]), data: Data([1])))
        let custom = CachedURLResponse(
            response: response, data: Data([1]), userInfo: ["k": 1], storagePolicy: .allowedInMemoryOnly)
        #expect(custom.userInfo?["k"] as? Int == 1 && custom != cached)
        let alike = CachedURLResponse(
            response: response, data: Data([1]), userInfo: ["k": 1], storagePolicy: .allowedInMemoryOnly)
        #expect(custom == alike && custom.hash == alike.hash && custom.copy() as AnyObject === custom)
        let other = CachedURLResponse(
            response: response, data: Data([1]), userInfo: ["k": 2], storagePolicy: .allowedInMemoryOnly)
        #expect(custom != other)
        let numbers: [(URLCache.StoragePolicy, UInt)] = [
            (.allowed, 0), (.allowedInMemoryOnly, 1), (.notAllowed, 2),
        ]
        for (policy, number) in numbers { #expect(policy.rawValue == number) }
    }
}
