// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

struct FreshnessTests {
    static let date = "Sun, 09 Sep 2001 01:46:40 GMT"
    static let now = Date(timeIntervalSince1970: 1_000_000_000)

    static func at(_ seconds: TimeInterval) -> Date { now.addingTimeInterval(seconds) }

    static func text(_ seconds: TimeInterval) -> String { HTTPDate.text(of: at(seconds)) ?? "" }

    static func freshness(_ fields: [String: String], asked: TimeInterval = 0, arrival: TimeInterval = 0)
        throws
        -> Freshness
    {
        let url = try #require(URL(string: "http://h/"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
        return Freshness(response, requestTime: at(asked), arrival: at(arrival))
    }

    static let lifetimeRows: [(summary: String, fields: [String: String], lifetime: TimeInterval)] = [
        ("max-age", ["Cache-Control": "max-age=60"], 60),
        ("any case", ["cache-control": "PRIVATE, Max-Age=60"], 60),
        ("quoted", ["Cache-Control": "max-age=\"60\""], 60),
        ("blanks", ["Cache-Control": " max-age = 60 "], 60),
        ("invalid", ["Cache-Control": "max-age=x"], 0), ("negative", ["Cache-Control": "max-age=-5"], 0),
        ("without number", ["Cache-Control": "max-age"], 0),
        ("smallest", ["Cache-Control": "max-age=9, max-age=3, max-age=5"], 3),
        ("smallest is invalid", ["Cache-Control": "max-age=9, max-age=x"], 0),
        ("huge", ["Cache-Control": "max-age=99999999999999999999"], 2_147_483_647),
        ("inside quotes", ["Cache-Control": "x=\"max-age=5, y\", max-age=7"], 7),
        ("max-age before Expires", ["Cache-Control": "max-age=60", "Expires": text(500), "Date": date], 60),
        ("max-age before a bad Expires", ["Cache-Control": "max-age=60", "Expires": "0"], 60),
        ("Expires", ["Expires": text(500), "Date": date], 500),
        ("Expires without Date", ["Expires": text(500)], 500),
        ("Expires is past", ["Expires": text(-5), "Date": date], 0),
        ("Expires is no date", ["Expires": "0", "Date": date, "Last-Modified": text(-1_000)], 0),
        ("a tenth", ["Date": date, "Last-Modified": text(-1_000)], 100),
        ("a day at most", ["Date": date, "Last-Modified": text(-10_000_000)], 86_400),
        ("changed in the future", ["Date": date, "Last-Modified": text(10)], 0),
        ("no guess", ["Date": date, "Last-Modified": text(-1_000), "Cache-Control": "no-cache"], 0),
        ("nothing", ["Date": date], 0), ("s-maxage", ["Cache-Control": "s-maxage=60, proxy-revalidate"], 0),
        ("s-maxage beside", ["Cache-Control": "s-maxage=60, max-age=5"], 5),
    ]

    @Test("[U-12.9] how long a response is fresh", arguments: lifetimeRows)
    func lifetimes(summary: String, fields: [String: String], lifetime: TimeInterval) throws {
        #expect(try Self.freshness(fields).lifetime == lifetime, "\(summary)")
    }

    static let ageRows:
        [(
            summary: String, fields: [String: String], asked: TimeInterval, arrival: TimeInterval,
            age: TimeInterval
        )] = [
            ("just made", ["Date": date], 0, 0, 0), ("by Date", ["Date": text(-30)], 0, 0, 30),
            ("Date in the future", ["Date": text(30)], 0, 0, 0),
            ("by Age", ["Date": date, "Age": "20"], 0, 0, 20),
            ("Age and delay", ["Date": date, "Age": "20"], -4, 0, 24),
            ("delay alone", ["Date": date], -4, 0, 4),
            ("the larger", ["Date": text(-30), "Age": "20"], -4, 0, 30),
            ("bad Age", ["Date": date, "Age": "x"], 0, 0, 0),
            ("two Ages", ["Date": date, "Age": "7, 9"], 0, 0, 7), ("no Date", [:], -2, 0, 2),
        ]

    @Test("[U-12.10] how old a response is when it arrives, and later", arguments: ageRows)
    func ages(
        summary: String, fields: [String: String], asked: TimeInterval, arrival: TimeInterval,
        age: TimeInterval
    ) throws {
        let freshness = try Self.freshness(fields, asked: asked, arrival: arrival)
        #expect(freshness.initialAge == age, "\(summary)")
        #expect(freshness.age(at: Self.at(arrival + 100)) == age + 100, "\(summary)")
    }

    static let useRows: [(response: String, request: [String: String], age: TimeInterval, isUsable: Bool)] = [
        ("max-age=60", [:], 59, true), ("max-age=60", [:], 60, false), ("max-age=0", [:], 0, false),
        ("no-cache, max-age=60", [:], 0, false), ("no-cache=\"set-cookie\", max-age=60", [:], 0, false),
        ("max-age=60, immutable", [:], 60, false), ("max-age=60", ["Cache-Control": "no-cache"], 0, false),
        ("max-age=60", ["Pragma": "no-cache"], 0, false),
        ("max-age=60", ["Pragma": "no-cache", "Cache-Control": "x"], 0, true),
        ("max-age=60", ["Cache-Control": "max-age=10"], 10, true),
        ("max-age=60", ["Cache-Control": "max-age=10"], 11, false),
        ("max-age=60", ["Cache-Control": "max-age=0"], 1, false),
        ("max-age=60", ["Cache-Control": "min-fresh=20"], 40, true),
        ("max-age=60", ["Cache-Control": "min-fresh=20"], 41, false),
        ("max-age=60", ["Cache-Control": "min-fresh=x"], 0, false),
        ("max-age=60", ["Cache-Control": "max-stale"], 6_000, true),
        ("max-age=60", ["Cache-Control": "max-stale=5"], 65, true),
        ("max-age=60", ["Cache-Control": "max-stale=5"], 66, false),
        ("max-age=60", ["Cache-Control": "max-stale=x"], 61, false),
        ("max-age=60, must-revalidate", ["Cache-Control": "max-stale"], 61, false),
        ("max-age=60", ["Cache-Control": "immutable"], 61, false),
    ]

    @Test("[U-12.10] when a response may be used, and what a request can ask", arguments: useRows)
    func uses(response: String, request: [String: String], age: TimeInterval, isUsable: Bool) throws {
        let freshness = try Self.freshness(["Date": Self.date, "Cache-Control": response])
        let control = CacheControl(field: request["Cache-Control"], pragma: request["Pragma"])
        #expect(freshness.isUsable(at: Self.at(age), for: control) == isUsable)
    }

    @Test func pragmaOfAResponseCountsWithoutCacheControl() throws {
        let alone = try Self.freshness(["Pragma": "no-cache", "Expires": Self.text(60)])
        #expect(!alone.isUsable(at: Self.now))
        let beside = try Self.freshness(["Pragma": "no-cache", "Cache-Control": "max-age=60"])
        #expect(beside.isUsable(at: Self.now))
    }

    @Test func settingTheClockBackMakesNothingFresh() throws {
        let freshness = try Self.freshness(["Date": Self.date, "Cache-Control": "max-age=60"])
        #expect(freshness.age(at: Self.at(-1)) == nil)
        #expect(!freshness.isUsable(at: Self.at(-1)))
        #expect(!freshness.isUsable(at: Self.at(-1), for: CacheControl(field: "max-stale", pragma: nil)))
    }
}
