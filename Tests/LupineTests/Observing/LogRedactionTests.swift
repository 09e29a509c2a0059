// SPDX-License-Identifier: MIT

import LupineLoading
import Testing

@testable import Lupine

/// The parts of a text that must not appear in a log.
struct LogRedactionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let shows: String
        let text: String
        let line: String

        var testDescription: String { shows }
    }

    static let rows = [
        Row(shows: "a plain URL stays", text: "GET http://h/a?b=c&d#e", line: "GET http://h/a?b=c&d#e"),
        Row(
            shows: "name and password", text: "to https://user:pass@h:80/",
            line: "to https://[redacted]@h:80/"),
        Row(shows: "a password with an @", text: "https://u:p@ss@h/", line: "https://[redacted]@h/"),
        Row(shows: "a name alone", text: "https://u@h", line: "https://[redacted]@h"),
        Row(shows: "an @ behind the authority stays", text: "http://h/a@b?c@d", line: "http://h/a@b?c@d"),
        Row(
            shows: "an address within another", text: "/?next=http%3a//u:p@h/&to=http%3A//u:p@h",
            line: "/?next=http%3a//[redacted]@h/&to=http%3A//[redacted]@h"),
        Row(
            shows: "in brackets and quotes", text: "(//u:p@h) [//u:p@h] '//u:p@h' ,//u:p@h",
            line: "(//[redacted]@h) [//[redacted]@h] '//[redacted]@h' ,//[redacted]@h"),
        Row(
            shows: "two slashes in a path", text: "/a//b@c /a.//b@c /%20//b@c",
            line: "/a//b@c /a.//b@c /%20//b@c"),
        Row(
            shows: "two URLs in one text", text: "http://a:b@h/ to http://c:d@h/",
            line: "http://[redacted]@h/ to http://[redacted]@h/"),
        Row(
            shows: "query items by their names",
            text: "/?access_token=1&API-Key=2&password=3&page=4&client_secret=5",
            line:
                "/?access_token=[redacted]&API-Key=[redacted]&password=[redacted]&page=4&client_secret=[redacted]"
        ),
        Row(shows: "a name in escapes", text: "/?%74oken=abc&x=1", line: "/?%74oken=[redacted]&x=1"),
        Row(shows: "a name behind a second question mark", text: "/?a?token=b", line: "/?a?token=[redacted]"),
        Row(
            shows: "a name that never ends", text: String(repeating: "?", count: 200_000),
            line: String(repeating: "?", count: 200_000)),
        Row(shows: "in a fragment", text: "/#access_token=abc", line: "/#access_token=[redacted]"),
        Row(shows: "a value with a semicolon", text: "/?token=a;b&c=d", line: "/?token=[redacted]&c=d"),
        Row(shows: "an item behind a semicolon", text: "/?a=b;token=c", line: "/?a=b;token=[redacted]"),
        Row(shows: "an item without a value", text: "/?token&a=b", line: "/?token&a=b"),
        Row(shows: "an empty value", text: "/?token=&a=b", line: "/?token=[redacted]&a=b"),
        Row(
            shows: "a value at the end of a quotation", text: "\"/?key=v\" is",
            line: "\"/?key=[redacted]\" is"),
        Row(shows: "letters that join others", text: "/?token=\u{301}abc", line: "/?token=[redacted]"),
        Row(
            shows: "line ends are escaped", text: "a\r\nb\n\u{0}\u{1B}[0m",
            line: "a\\r\\nb\\n\\0\\u{1B}[0m"),
        Row(
            shows: "characters that change the text direction are escaped", text: "a\u{202E}b\u{2066}c",
            line: "a\\u{202E}b\\u{2066}c"),
        Row(shows: "letters of all kinds stay", text: "grün 日本", line: "grün 日本"),
    ]

    @Test("`line` redacts secrets and escapes line ends", arguments: rows)
    func line(_ row: Row) {
        #expect(LogRedaction.line(row.text) == row.line)
    }

    @Test(
        "long lines that consist only of beginnings of URLs or of query items",
        arguments: [("://@", "://[redacted]@"), ("?", "?"), ("&key=", "&key=[redacted]")])
    func longLines(_ piece: String, _ redactedPiece: String) {
        #expect(
            LogRedaction.line(String(repeating: piece, count: 10_000))
                == String(repeating: redactedPiece, count: 10_000))
    }

    @Test(
        "header fields that are credentials",
        arguments: [
            "Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "X-Api-Key", "X-Auth-Token",
            "X-Authorization", "x-auth", "DPoP", "X-Jwt-Assertion", "X-Session-Id",
        ])
    func field(_ name: String) {
        #expect(LogRedaction.value("value", ofField: name) == "[redacted]")
    }

    @Test("header fields that the program has declared sensitive")
    func sensitiveField() {
        #expect(LogRedaction.value("value", ofField: "X-Mine", or: ["x-mine"]) == "[redacted]")
        #expect(LogRedaction.value("value", ofField: "X-Mine") == "value")
    }

    @Test("a report of pins escapes line ends in the peer's names")
    func pins() {
        let presented = PinningReport.Presented(
            subject: "x\n  sha256/AAAA www.bank.example\u{1B}]0;\u{2028}", pin: "sha256/BBBB")
        let report = PinningReport(host: "h", expected: ["sha256/AAAA"], presented: [presented])
        #expect(report.description.split(separator: "\n").count == 2)
        #expect(!report.description.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{2028}" })
    }

    @Test(
        "header fields that are not credentials",
        arguments: ["Accept", "Content-Type", "WWW-Authenticate", "ETag"])
    func otherField(_ name: String) {
        #expect(LogRedaction.value("value", ofField: name) == "value")
    }
}
