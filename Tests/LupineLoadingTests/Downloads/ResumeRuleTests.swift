// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

/// Tests of when a download can be resumed, and of what the response to the attempt means.
struct ResumeRuleTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        let fields: [String: String]
        let step: ResumeRule.Step
        var testDescription: String { name }

        init(_ name: String, _ status: Int, _ fields: [String: String], _ step: ResumeRule.Step) {
            self.name = name
            self.status = status
            self.fields = fields
            self.step = step
        }
    }

    private static func rest(_ total: Int64, whole: ClosedRange<Int64>? = nil, _ name: String)
        -> ResumeRule.Step
    {
        .append(.init(offset: 100, total: total, completeSizes: whole ?? total...total, contentRange: name))
    }

    static let answers = [
        Answer(
            "[U-7.14] the rest", 206, ["Content-Range": "bytes 100-199/200", "Content-Length": "100"],
            rest(200, "bytes 100-199/200")),
        Answer(
            "[U-7.14] an asterisk for the total", 206,
            ["Content-Range": "bytes 100-199/*", "Content-Length": "100"], rest(200, "bytes 100-199/*")),
        Answer(
            "[U-7.14] an end that is off by one", 206,
            ["Content-Range": "bytes 100-200/200", "Content-Length": "100"], rest(200, "bytes 100-200/200")),
        Answer(
            "no total and no length", 206, ["Content-Range": "bytes 100-199/*"],
            rest(-1, whole: 199...200, "bytes 100-199/*")),
        Answer(
            "one byte, no total and no length", 206, ["Content-Range": "bytes 100-100/*"],
            rest(-1, whole: 101...101, "bytes 100-100/*")),
        Answer(
            "a length that is no number of bytes that can be", 206,
            ["Content-Range": "bytes 100-199/*", "Content-Length": "9223372036854775807"],
            .startOver("the server sent 9223372036854775807 bytes for bytes 100-199/*")),
        Answer(
            "another part", 206, ["Content-Range": "bytes 99-199/200"],
            .startOver("the server sent bytes 99-199/200 for the bytes from 100 on")),
        Answer(
            "a part that does not say which", 206, [:],
            .startOver("the server sent a part that it did not name for the bytes from 100 on")),
        Answer(
            "a rest without bytes", 206, ["Content-Range": "bytes 100-99/100", "Content-Length": "0"],
            rest(100, "bytes 100-99/100")),
        Answer(
            "a rest without bytes, of an unknown total", 206, ["Content-Range": "bytes 100-99/*"],
            .startOver("the server sent bytes 100-99/*, which is not all of the bytes from 100 on")),
        Answer(
            "less than was asked for", 206, ["Content-Range": "bytes 100-149/200", "Content-Length": "50"],
            .startOver("the server sent bytes 100-149/200, which is not all of the bytes from 100 on")),
        Answer(
            "[U-7.14] another version's rest", 206,
            ["Content-Range": "bytes 100-199/200", "Content-Length": "100", "ETag": "\"v2\""],
            .startOver(
                "the server has another version: entity tag \"v2\", where the part that is there has entity tag \"v1\""
            )),
        Answer("[U-7.14] another version now", 200, ["Content-Length": "300"], .store),
        Answer("[U-7.14] nothing is missing", 416, ["Content-Range": "bytes */100"], .complete),
        Answer(
            "[U-7.14] nothing is missing of another version", 416,
            ["Content-Range": "bytes */100", "ETag": "\"v2\""],
            .startOver(
                "the server has another version: entity tag \"v2\", where the part that is there has entity tag \"v1\""
            )),
        Answer("[U-7.14] the resource is shorter now", 416, ["Content-Range": "bytes */99"], .store),
        Answer("416 without a word", 416, [:], .store),
        Answer(
            "[U-7.14] any other answer is a download of that answer", 404, ["Content-Length": "9"], .store),
    ]

    @Test(arguments: answers) func eachResponseHasItsStep(_ answer: Answer) throws {
        let response = try response(answer.status, answer.fields)
        let part = ResumeData(
            url: try #require(response.url), fields: [], validator: .entityTag("\"v1\""), received: 100,
            file: "/tmp/part")
        #expect(ResumeRule.step(after: response, part: part) == answer.step)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var method = "GET"
        var url = "https://files.example/a"
        var requestFields: [String: String] = [:]
        var status = 200
        var fields = ["Accept-Ranges": "bytes", "ETag": "\"v1\""]
        var isDecoded = false
        var validator: ResumeData.Validator?
        var testDescription: String { name }
    }

    private static func dates(_ changed: String, sent: String?) -> [String: String] {
        var fields = ["Accept-Ranges": "bytes", "Last-Modified": changed]
        fields["Date"] = sent
        return fields
    }

    static let cases = [
        Case(name: "[U-7.12] a strong tag", validator: .entityTag("\"v1\"")),
        Case(
            name: "[U-7.12] a tag before a date",
            fields: ["Accept-Ranges": "none, Bytes", "ETag": "\"v1\"", "Last-Modified": "yesterday"],
            validator: .entityTag("\"v1\"")),
        Case(
            name: "[U-7.14] a date, verbatim",
            fields: dates("Sunday, 06-Nov-94 08:49:37 GMT", sent: "Sun, 06 Nov 1994 08:49:38 GMT"),
            validator: .lastModified("Sunday, 06-Nov-94 08:49:37 GMT")),
        Case(
            name: "[U-7.12] a date of the second in which it was sent",
            fields: dates("Sun, 06 Nov 1994 08:49:37 GMT", sent: "Sun, 06 Nov 1994 08:49:37 GMT")),
        Case(
            name: "[U-7.12] a date in the future",
            fields: dates("Sun, 06 Nov 1994 08:49:37 GMT", sent: "Sat, 05 Nov 1994 08:49:37 GMT")),
        Case(
            name: "[U-7.12] a date, and no Date field",
            fields: dates("Sun, 06 Nov 1994 08:49:37 GMT", sent: nil)),
        Case(name: "[U-7.12] an invalid date", fields: dates("yesterday", sent: "today")),
        Case(
            name: "[U-7.12] a date beside a weak tag",
            fields: dates("Sun, 06 Nov 1994 08:49:37 GMT", sent: "Mon, 07 Nov 1994 08:49:37 GMT")
                .merging(["ETag": "W/\"v1\""]) { $1 }),
        Case(name: "[U-7.12] a weak tag alone", fields: ["Accept-Ranges": "bytes", "ETag": "W/\"v1\""]),
        Case(name: "[U-7.12] neither tag nor date", fields: ["Accept-Ranges": "bytes"]),
        Case(name: "[U-7.12] no ranges", fields: ["ETag": "\"v1\""]),
        Case(name: "[U-7.12] ranges refused", fields: ["Accept-Ranges": "none", "ETag": "\"v1\""]),
        Case(
            name: "[U-7.12] an unrequested part does not start at the beginning", status: 206,
            fields: ["Accept-Ranges": "bytes", "ETag": "\"v1\""]),
        Case(name: "[U-7.12] not found", status: 404),
        Case(name: "[U-7.12] created", status: 201),
        Case(name: "[U-7.12] a POST", method: "POST"),
        Case(name: "[U-7.12] decoded content", isDecoded: true),
        Case(
            name: "[U-7.12] not to be stored",
            fields: ["Accept-Ranges": "bytes", "ETag": "\"v1\"", "Cache-Control": "private, no-store"]),
        Case(name: "[U-7.12] not HTTP", url: "file:///tmp/a"),
        Case(name: "the program asked for a part itself", requestFields: ["Range": "bytes=5-"], status: 206),
    ]

    @Test(arguments: cases) func aPartialFileIsKeptOnlyIfItCanBeResumed(_ row: Case) throws {
        var request = URLRequest(url: try #require(URL(string: row.url)))
        request.httpMethod = row.method
        request.allHTTPHeaderFields = row.requestFields
        let response = try response(row.status, row.fields)
        let validator = ResumeRule.validator(of: response, to: request, isDecoded: row.isDecoded)
        #expect(validator == row.validator)
    }

    @Test(arguments: [
        ("bytes 0-9/10", 0, 10), ("BYTES  5-9/*", 5, nil), ("bytes */10", nil, 10), ("bytes */*", nil, nil),
    ])
    func aRangeIsRead(_ text: String, _ start: Int64?, _ total: Int64?) throws {
        let range = try #require(ContentRange(text))
        #expect(range.start == start && range.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes 1-2", "bytes 1/2", "bytes -2/3", "bytes 1-/3", "bytes +1-2/3", "items 1-2/3",
        "bytes 1-2/3 4", "bytes 99999999999999999999-1/2", "bytes 1-2/99999999999999999999", "bytes 1-2-3/4",
        "bytes 3-1/4", "bytes 1-4/3", "bytes 5-4/4", "bytes 9223372036854775807-9223372036854775807/*",
    ])
    func invalidContentRanges(_ text: String) { #expect(ContentRange(text) == nil) }

    private func response(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "https://files.example/a"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
    }
}
