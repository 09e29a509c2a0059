// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

struct CacheDecisionTests {
    /// A decision without its entry.
    enum Verdict: Hashable {
        case use
        case revalidate([HeaderList.Field])
        case load
        case noCacheFields
        case bypass
        case fail

        static let byTag = Verdict.revalidate([HeaderList.Field(name: "If-None-Match", value: "W/\"1\"")])
        static let byDate = Verdict.revalidate([
            HeaderList.Field(name: "If-Modified-Since", value: "Thu, 01 Dec 1994 16:00:00 GMT")
        ])
        static let byBoth = Verdict.revalidate([
            HeaderList.Field(name: "If-None-Match", value: "W/\"1\""),
            HeaderList.Field(name: "If-Modified-Since", value: "Thu, 01 Dec 1994 16:00:00 GMT"),
        ])
    }

    static func verdict(_ decision: CacheDecision) -> Verdict {
        switch decision {
        case .use: .use
        case .revalidate(_, let fields): .revalidate(fields)
        case .load(let fields): fields.isEmpty ? .load : .noCacheFields
        case .bypass: .bypass
        case .fail: .fail
        }
    }

    /// The time at which the stored response arrived: that of RFC 9111's examples.
    static let arrival = Date(timeIntervalSince1970: 786_297_600)
    static let date = "Thu, 01 Dec 1994 16:00:00 GMT"

    /// The stored response, named by its fields.
    enum Stored: String, CaseIterable {
        case fresh = "Cache-Control: max-age=60|ETag: W/\"1\""
        case freshBare = "Cache-Control: max-age=60"
        case stale = "Cache-Control: max-age=5|ETag: W/\"1\""
        case staleBare = "Cache-Control: max-age=5"
        case nothing = ""

        func entry(for request: URLRequest) throws -> CacheEntry? {
            self == .nothing ? nil : try CacheDecisionTests.entry(rawValue, for: request)
        }
    }

    /// Returns an entry for a response with these fields, `Name: value|Name: value`.
    static func entry(_ fields: String, for request: URLRequest) throws -> CacheEntry {
        let lines = fields.split(separator: "|").map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
        }
        return CacheStage.entry(try CacheStage.loaded("x", lines), for: request, at: arrival)
    }

    static func decide(
        _ request: URLRequest, _ entry: CacheEntry?, after age: TimeInterval = 10,
        configuration: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) -> Verdict {
        verdict(
            CacheDecision(
                for: request, configuration: configuration, entry: entry, at: arrival.addingTimeInterval(age))
        )
    }

    static let policies: [(policy: URLRequest.CachePolicy, verdicts: [Verdict])] = [
        (.useProtocolCachePolicy, [.use, .use, .byTag, .load, .load]),
        (.reloadIgnoringLocalCacheData, [.load, .load, .load, .load, .load]),
        (
            .reloadIgnoringLocalAndRemoteCacheData,
            [.noCacheFields, .noCacheFields, .noCacheFields, .noCacheFields, .noCacheFields]
        ),
        (.returnCacheDataElseLoad, [.use, .use, .use, .use, .load]),
        (.returnCacheDataDontLoad, [.use, .use, .use, .use, .fail]),
        (.reloadRevalidatingCacheData, [.byTag, .load, .byTag, .load, .load]),
    ]

    @Test(
        "[U-12.11, U-12.12] each cache policy of a request or a configuration, with a stored response",
        arguments: policies)
    func policy(policy: URLRequest.CachePolicy, verdicts: [Verdict]) throws {
        var own = try CacheStage.request()
        own.cachePolicy = policy
        let none = try CacheStage.request()
        for (stored, verdict) in zip(Stored.allCases, verdicts) {
            let entry = try stored.entry(for: none)
            #expect(Self.decide(own, entry) == verdict, "\(stored)")
            #expect(Self.decide(none, entry, configuration: policy) == verdict, "\(stored)")
            if policy != .useProtocolCachePolicy {
                #expect(
                    Self.decide(own, entry, configuration: .reloadIgnoringLocalCacheData) == verdict,
                    "\(stored)")
            }
            #expect(
                CacheDecision.needsEntry(for: own, configuration: .useProtocolCachePolicy)
                    == (Set(verdicts) != [.load] && verdict != .noCacheFields))
        }
    }

    static let directives:
        [(summary: String, stored: String, age: TimeInterval, asked: String, verdict: Verdict)] = [
            // RFC 9111 §5.2.1: request directives.
            ("max-age of a request, in time", "Cache-Control: max-age=60", 10, "max-age=10", .use),
            ("max-age of a request, over", "Cache-Control: max-age=60", 11, "max-age=10", .load),
            ("max-age=0 revalidates", "Cache-Control: max-age=60|ETag: W/\"1\"", 1, "max-age=0", .byTag),
            ("min-fresh, enough", "Cache-Control: max-age=60", 40, "min-fresh=20", .use),
            ("min-fresh, too little", "Cache-Control: max-age=60|ETag: W/\"1\"", 41, "min-fresh=20", .byTag),
            ("max-stale, enough", "Cache-Control: max-age=5", 15, "max-stale=10", .use),
            ("max-stale, too old", "Cache-Control: max-age=5|ETag: W/\"1\"", 16, "max-stale=10", .byTag),
            ("max-stale without end", "Cache-Control: max-age=5", 9_999_999, "max-stale", .use),
            ("must-revalidate", "Cache-Control: max-age=5, must-revalidate", 6, "max-stale", .load),
            ("must-revalidate, fresh", "Cache-Control: max-age=5, must-revalidate", 4, "", .use),
            ("no-cache of a request", "Cache-Control: max-age=60|ETag: W/\"1\"", 1, "no-cache", .byTag),
            ("no-store of a request", "Cache-Control: max-age=60", 1, "no-store", .use),
            ("only-if-cached, fresh", "Cache-Control: max-age=60", 1, "only-if-cached", .use),
            ("only-if-cached, stale", "Cache-Control: max-age=5|ETag: W/\"1\"", 6, "only-if-cached", .fail),
            ("only-if-cached, max-stale", "Cache-Control: max-age=5", 6, "only-if-cached, max-stale", .use),
            // §5.2.2: response directives.
            ("no-cache", "Cache-Control: no-cache, max-age=60|ETag: W/\"1\"", 0, "", .byTag),
            ("no-cache with a list", "Cache-Control: no-cache=\"Set-Cookie\", max-age=60", 0, "", .load),
            ("immutable is no promise", "Cache-Control: max-age=5, immutable", 6, "", .load),
            ("s-maxage is for others", "Cache-Control: s-maxage=60", 1, "", .load),
            ("private is ours", "Cache-Control: private, max-age=60", 1, "", .use),
            (
                "an unknown directive, §5.2.3", "Cache-Control: private, community=\"UCI\", max-age=60",
                1, "", .use
            ),
            // §4.2: freshness, in its last second and after it.
            ("the last second", "Cache-Control: max-age=60", 59.9, "", .use),
            ("its end", "Cache-Control: max-age=60", 60, "", .load),
            ("Age counts", "Cache-Control: max-age=60|Age: 55", 4, "", .use),
            ("Age counts, over", "Cache-Control: max-age=60|Age: 55", 5, "", .load),
            ("Date counts", "Cache-Control: max-age=60|Date: Thu, 01 Dec 1994 15:59:10 GMT", 9, "", .use),
            (
                "Date counts, over", "Cache-Control: max-age=60|Date: Thu, 01 Dec 1994 15:59:10 GMT", 10, "",
                .load
            ),
            // §5.3.
            ("Expires", "Expires: Thu, 01 Dec 1994 16:00:30 GMT|Date: \(date)", 29, "", .use),
            ("Expires, over", "Expires: Thu, 01 Dec 1994 16:00:30 GMT|Date: \(date)", 30, "", .load),
            ("Expires of §5.3", "Expires: Thu, 01 Dec 1994 16:00:00 GMT|Date: \(date)", 0, "", .load),
            ("Expires: 0", "Expires: 0|Date: \(date)|ETag: W/\"1\"", 0, "", .byTag),
            ("max-age before Expires", "Expires: 0|Cache-Control: max-age=60", 1, "", .use),
            // §4.2.2.
            ("a tenth, in time", "Last-Modified: Thu, 01 Dec 1994 15:50:00 GMT|Date: \(date)", 59, "", .use),
            ("no word", "ETag: W/\"1\"", 0, "", .byTag), ("no word at all", "X: y", 0, "", .load),
            ("validator: date", "Last-Modified: \(date)", 1, "", .byDate),
            ("validator: both", "Last-Modified: \(date)|ETag: W/\"1\"", 1, "", .byBoth),
            // §5.4.
            ("Pragma alone", "Pragma: no-cache|Expires: Thu, 01 Dec 1994 17:00:00 GMT", 1, "", .load),
            ("Pragma beside", "Pragma: no-cache|Cache-Control: max-age=60", 1, "", .use),
        ]

    @Test("[U-12.9, U-12.10] directives of responses and requests (RFC 9111)", arguments: directives)
    func directive(summary: String, stored: String, age: TimeInterval, asked: String, verdict: Verdict) throws
    {
        let request = try CacheStage.request("http://h/a", asked.isEmpty ? [:] : ["Cache-Control": asked])
        #expect(
            Self.decide(request, try Self.entry(stored, for: request), after: age) == verdict, "\(summary)")
    }

    @Test("[U-12.10] Pragma in a request counts only without Cache-Control")
    func pragmaOfARequest() throws {
        let stored = try #require(try Stored.fresh.entry(for: try CacheStage.request()))
        let alone = try CacheStage.request("http://h/a", ["Pragma": "no-cache"])
        #expect(Self.decide(alone, stored) == .byTag)
        let beside = try CacheStage.request(
            "http://h/a", ["Pragma": "no-cache", "Cache-Control": "max-age=30"])
        #expect(Self.decide(beside, stored) == .use)
    }

    @Test("[U-12.16] setting the clock back makes no response fresh")
    func clock() throws {
        let request = try CacheStage.request()
        let stored = try #require(try Stored.fresh.entry(for: request))
        #expect(Self.decide(request, stored, after: 0) == .use)
        #expect(Self.decide(request, stored, after: -1) == .byTag)
        #expect(Self.decide(request, stored, after: -1_000_000_000) == .byTag)
        let patient = try CacheStage.request("http://h/a", ["Cache-Control": "max-stale"])
        #expect(Self.decide(patient, stored, after: -1) == .byTag)
    }

    @Test(
        "[U-12.14] a request with a condition or range of the caller's bypasses the cache",
        arguments: [
            "If-Match", "If-Modified-Since", "if-none-match", "If-Range", "If-Unmodified-Since", "RANGE",
        ])
    func conditions(name: String) throws {
        var request = try CacheStage.request("http://h/a", [name: "x"])
        let stored = try #require(try Stored.fresh.entry(for: request))
        for number: UInt in 0...5 {
            guard let policy = URLRequest.CachePolicy(rawValue: number) else { continue }
            request.cachePolicy = policy
            #expect(Self.decide(request, stored) == .bypass && Self.decide(request, nil) == .bypass)
            #expect(!CacheDecision.needsEntry(for: request, configuration: .useProtocolCachePolicy))
        }
    }

    @Test func onlyGETIsLookedUp() throws {
        var request = try CacheStage.request()
        request.httpMethod = "POST"
        #expect(!CacheDecision.needsEntry(for: request, configuration: .useProtocolCachePolicy))
        #expect(Self.decide(request, nil) == .load)
        #expect(Self.decide(request, nil, configuration: .returnCacheDataDontLoad) == .fail)
    }

    @Test func responsesWithoutHTTPAreStale() throws {
        let request = try CacheStage.request()
        let url = try #require(request.url)
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
        let entry = CacheStage.entry(
            CachedURLResponse(response: response, data: Data([1])), for: request, at: Self.arrival)
        #expect(Self.decide(request, entry, after: 0) == .load)
        #expect(Self.decide(request, entry, configuration: .returnCacheDataElseLoad) == .use)
    }

    @Test("[U-12.13] a 304 keeps status and content, updates the fields and resets the age")
    func refreshing() throws {
        let request = try CacheStage.request("http://h/a", ["Accept": "x", "X": "1"])
        let url = try #require(request.url)
        let stored = HTTPURLResponse(
            url: url,
            head: try CacheStage.head(
                [
                    ("Date", Self.date), ("ETag", "\"1\""), ("Cache-Control", "max-age=5"),
                    ("Vary", "Accept"),
                    ("Content-Length", "4"), ("Set-Cookie", "a"), ("Set-Cookie", "b"),
                ], status: 203), isDecoded: false)
        let old = CacheEntry(
            response: CachedURLResponse(
                response: stored, data: Data("body".utf8), userInfo: ["k": 1],
                storagePolicy: .allowedInMemoryOnly),
            for: request, requestTime: Self.arrival, responseTime: Self.arrival)
        let answer = HTTPURLResponse(
            url: url,
            head: try CacheStage.head(
                [
                    ("Date", "Thu, 01 Dec 1994 16:01:40 GMT"), ("Cache-Control", "max-age=50"),
                    ("Vary", "X"), ("Content-Length", "0"), ("Connection", "close"),
                ], status: 304), isDecoded: false)
        let later = Self.arrival.addingTimeInterval(100)
        #expect(Self.decide(request, old, after: 100) != .use)
        let new = old.refreshed(
            by: answer, for: request, requestTime: later, responseTime: later, provenance: .program,
            identifying: nil)
        let response = try #require(new.httpResponse)
        #expect(response.statusCode == 203 && response.expectedContentLength == 4)
        #expect(response.value(forHTTPHeaderField: "Cache-Control") == "max-age=50")
        #expect(response.value(forHTTPHeaderField: "Connection") == nil)
        #expect(response.fields?.values(of: .setCookie) == ["a", "b"])
        #expect(new.content == "body" && new.response.userInfo?["k"] as? Int == 1)
        #expect(new.response.storagePolicy == .allowedInMemoryOnly)
        #expect(
            Self.decide(request, new, after: 149) == .use && Self.decide(request, new, after: 150) != .use)
        #expect(new.answers(try CacheStage.request("http://h/a", ["X": "1"]), of: .standard))
        #expect(!new.answers(try CacheStage.request("http://h/a", ["Accept": "x", "X": "2"]), of: .standard))
    }

    @Test func anEntryOfTheProgramCanBeRefreshed() throws {
        let request = try CacheStage.request()
        let url = try #require(request.url)
        let made = try #require(
            HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil,
                headerFields: ["ETag": "\"1\"", "bad name": "x", "Bad": "a\nb", "Age": "5"]))
        let answer = try #require(
            HTTPURLResponse(url: url, statusCode: 304, httpVersion: nil, headerFields: ["Age": "1"]))
        let entry = CacheStage.entry(CachedURLResponse(response: made, data: Data()), for: request)
        let new = entry.refreshed(
            by: answer, for: request, requestTime: Date(), responseTime: Date(), provenance: .program,
            identifying: nil)
        #expect(new.httpResponse?.fields?.count == 2)
        #expect(new.httpResponse?.value(forHTTPHeaderField: "Age") == "1")
        // A response that is not one of HTTP is not refreshed.
        let other = CachedURLResponse(
            response: URLResponse(
                url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil), data: Data([1]))
        let kept = CacheStage.entry(other, for: request)
            .refreshed(
                by: answer, for: request, requestTime: Date(), responseTime: Date(), provenance: .program,
                identifying: nil)
        #expect(kept.response === other)
    }
}
