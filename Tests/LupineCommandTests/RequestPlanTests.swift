// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

@testable import LupineCommand

/// Tests of the requests made from command lines, without sending them.
struct RequestPlanTests {
    @Test(arguments: [
        ("h.test", "http://h.test"), ("h.test/a?b#c", "http://h.test/a?b"), ("//h.test/", "http://h.test/"),
        (":8080", "http://localhost:8080"), (":8080/x", "http://localhost:8080/x"),
        (":/x", "http://localhost/x"),
        ("https://h.test/", "https://h.test/"), ("HTTPS://h.test/", "HTTPS://h.test/"),
        ("h.test:81/a", "http://h.test:81/a"),
        ("http://me:p%40w@h.test/x", "http://h.test/x"), ("[::1]:80/", "http://[::1]:80/"),
        ("h.test/go?to=http://x", "http://h.test/go?to=http://x"),
        ("h.test/http://x", "http://h.test/http://x"),
        ("me:pw@h.test/?to=http://x", "http://h.test/?to=http://x"),
        ("data:,http://me@x/", "data:,http://me@x/"),
    ])
    func addressesAreParsed(_ typed: String, _ text: String) throws {
        #expect(try Address(typed).text == text)
    }

    @Test(arguments: [
        ("h.test/a/../b", "http://h.test/b"), ("h.test/./a/./b/.", "http://h.test/a/b/"),
        ("h.test/../../a/b/..?x=/../y", "http://h.test/a/?x=/../y"),
        ("h.test/a..b/.c", "http://h.test/a..b/.c"),
        ("h.test?x=/../y", "http://h.test?x=/../y"), ("file:///a/../b", "file:///a/../b"),
    ])
    func dotSegmentsAreRemoved(_ typed: String, _ text: String) throws {
        var address = try Address(typed)
        address.removeDotSegments()
        #expect(address.text == text)
    }

    @Test(arguments: ["h.test", "//h.test", ":81/x"])
    func theDefaultSchemeCanBeChanged(_ typed: String) throws {
        #expect(try Address(typed, scheme: "https").text.hasPrefix("https://"))
    }

    @Test(arguments: [
        ("Tue, 02 Jan 2024 03:04:05 GMT", 1_704_164_645), ("Tuesday, 02-Jan-24 03:04:05 GMT", 1_704_164_645),
        ("Tue Jan  2 03:04:05 2024", 1_704_164_645), ("2024-01-02", 1_704_153_600),
        ("2024-01-02 03:04:05", 1_704_164_645), ("2024-01-02T03:04:05Z", 1_704_164_645),
        ("2 Jan 2024", 1_704_153_600), ("20240102", 1_704_153_600),
    ])
    func datesAreParsed(_ text: String, _ seconds: Double) {
        #expect(DateText.date(text)?.timeIntervalSince1970 == seconds)
        #expect(DateText.http(Date(timeIntervalSince1970: 1_704_164_645)) == "Tue, 02 Jan 2024 03:04:05 GMT")
    }

    @Test(arguments: ["notes.txt", "", "soon", "2024-13-01"])
    func invalidDatesAreRejected(_ text: String) { #expect(DateText.date(text) == nil) }

    @Test func credentialsInURLsAreParsed() throws {
        #expect(
            try Address("http://me:p%40w@h.test/").credentials == Credentials(user: "me", password: "p@w"))
        #expect(try Address("http://me@h.test/").credentials == Credentials(user: "me", password: ""))
        #expect(try Address("http://h.test/@b").credentials == nil)
    }

    @Test(arguments: [
        ("http://me:pw@h.test/x?key=1#part", "http://h.test/x"), ("me:pw@h.test/x", "h.test/x"),
        ("me:pw@h.test/?key=1&to=http://x", "h.test/"), ("me:pw@h.test#http://x", "h.test"),
        ("h.test/x", "h.test/x"), ("odd one://me:pw@h.test", "odd one://h.test"),
    ])
    func shownAddressesContainNoSecret(_ typed: String, _ shown: String) {
        #expect(ShownAddress.text(typed) == shown)
    }

    @Test(arguments: ["ftp://h.test/", "gopher://h.test", "http://", "http:///x"])
    func invalidAddressesAreRejected(_ typed: String) {
        let failure = #expect(throws: CommandFailure.self) { _ = try Address(typed).url() }
        #expect(failure?.code == .malformedURL)
    }

    @Test(arguments: [
        ("h.test", "http://h.test/?a=1&b=%26"), ("h.test/x?", "http://h.test/x?a=1&b=%26"),
        ("h.test/x?y", "http://h.test/x?y&a=1&b=%26"),
    ])
    func parametersAreAdded(_ typed: String, _ text: String) throws {
        var address = try Address(typed)
        address.addParameters([("a", "1"), ("b", "&")])
        #expect(address.text == text)
    }

    @Test(arguments: [
        ("machine h.test login me password pw", "h.test", "me", "pw"),
        (
            "machine other.test login x password y\nmachine h.test\n  login me\n  password pw\n", "h.test",
            "me", "pw"
        ),
        ("default login d password e", "h.test", "d", "e"),
        ("# note\nmachine h.test login \"m e\" password \"p\\\"w\"", "h.test", "m e", "p\"w"),
        ("machine H.test login me account a password pw", "h.test", "me", "pw"),
        ("machine h.test login #me password #pw # note\nmachine other.test", "h.test", "#me", "#pw"),
        ("machine h.test login me # note password no\npassword pw", "h.test", "me", "pw"),
        ("machine h.test login\n# note\nme password pw", "h.test", "me", "pw"),
        ("machine h.test login me password\nmachine other.test login x password y", "h.test", "me", ""),
        ("machine h.test login\ndefault login d password e", "h.test", "", ""),
        ("machine h.test login me password\n\"machine\"", "h.test", "me", "machine"),
        ("machine\nmachine h.test login me password pw", "h.test", "me", "pw"),
    ])
    func netrcEntriesAreParsed(_ text: String, _ host: String, _ user: String, _ password: String) {
        #expect(NetrcFile(text).credentials(for: host) == Credentials(user: user, password: password))
    }

    @Test(arguments: [
        "machine other.test login a password b", "", "login a password b",
        "macdef h.test\nmachine h.test login a", "machine", "machine\nmachine other.test login a password b",
        "machine a.test login alice password #secret\nmachine b.test login bob password c",
    ])
    func netrcHasNoCredentialsForTheHost(_ text: String) {
        #expect(NetrcFile(text).credentials(for: "h.test") == nil)
    }

    @Test func cookieFilesAreReadAndWritten() {
        let text = """
            # Netscape HTTP Cookie File
            .h.test\tTRUE\t/\tFALSE\t0\ta\tb
            #HttpOnly_h.test\tFALSE\t/x\tTRUE\t4102444800\tc\td
            broken line
            ..#h.test\tFALSE\t/\tFALSE\t0\tg\th
            .#h.test\tFALSE\t/\tFALSE\t0\ti\tj
            h.test\tFALSE\t/\tFALSE\tsoon\te\tf
            """
        let cookies = NetscapeCookieFile.cookies(text)
        #expect(cookies.map(\.name) == ["a", "c"])
        #expect(
            cookies.last?.isSecure == true && cookies.last?.isHTTPOnly == true
                && cookies.first?.isSessionOnly == true)
        let written = NetscapeCookieFile.text(cookies)
        #expect(written.contains(".h.test\tTRUE\t/\tFALSE\t0\ta\tb\n"))
        #expect(written.contains("#HttpOnly_h.test\tFALSE\t/x\tTRUE\t4102444800\tc\td\n"))
        #expect(NetscapeCookieFile.cookies(written).map(\.name) == ["a", "c"])
    }

    @Test(arguments: [
        ("plain", "plain"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("$x", "'$x'"),
        ("a=b", "a=b"), ("é", "'é'"),
    ])
    func wordsAreQuotedForShells(_ word: String, _ quoted: String) {
        #expect(CurlLine.quoted(word) == quoted)
    }

    @Test(arguments: [
        ("a.json", "application/json"), ("/x/b.PNG", "image/png"), ("none", "application/octet-stream"),
        (".json", "application/octet-stream"),
    ])
    func mediaTypesFollowTheFileName(_ path: String, _ type: String) {
        #expect(MediaTypes.type(ofFile: path) == type)
    }

    @Test(
        arguments: [
            ("bytes 5-9/10", 5, 9, 10), ("bytes 5-9/*", 5, 9, nil), ("bytes */10", nil, nil, 10),
            ("BYTES 0-0/1", 0, 0, 1),
        ] as [(String, Int64?, Int64?, Int64?)])
    func contentRangesAreParsed(_ text: String, _ start: Int64?, _ end: Int64?, _ total: Int64?) throws {
        let range = try #require(ReceivedRange(text))
        #expect(range.start == start && range.end == end && range.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes 5-9", "bytes 5/10", "bytes -9/10", "bytes 5-/10", "bytes 9-5/10", "bytes 5-10/10",
        "bytes */*", "bytes +5-9/10", "bytes 5-9/+10", "bytes 5- 9/10", "bytes  5-9/10",
        "bytes 5-9/10, bytes 5-9/10",
        "lines 5-9/10", "bytes 5-9-9/10", "bytes 5-9/9223372036854775808",
    ])
    func invalidContentRangesAreRejected(_ text: String) { #expect(ReceivedRange(text) == nil) }

    @Test(arguments: [
        ("http://h.test/a/b.txt", "b.txt"), ("http://h.test/", "index.html"), ("http://h.test", "index.html"),
        ("http://h.test/a/..", "index.html"), ("http://h.test/%2e%2e%2fpasswd", "passwd"),
        ("http://h.test/a%20b", "a b"),
    ])
    func remoteNamesAreSafe(_ url: String, _ name: String) throws {
        let found = RemoteName.name(of: try #require(URL(string: url)))
        #expect(!found.contains("/") && found != "..")
        if !url.contains("%2f") { #expect(found == name) }
    }

    @Test func retriesWaitLongerAndLonger() {
        var schedule = RetrySchedule(retries: 4)
        #expect(schedule.allowsRetry(after: 503) && schedule.allowsRetry(after: 429))
        #expect(!schedule.allowsRetry(after: 404))
        for (retryAfter, delay) in [(nil, 1), (1, 2), (7, 7), (1e9, RetrySchedule.longestWait)] {
            #expect(schedule.retryDelay(retryAfter: retryAfter, elapsed: 1e6) == delay)
            schedule.advance()
        }
        #expect(!schedule.allowsRetry(after: 503))
        #expect(!schedule.allowsRetry(after: CommandFailure(.timeout, "")))
    }

    /// Checks the delay before a retry. The arguments: the options, the elapsed seconds, the seconds of Retry-After, and the
    /// expected delay; nil if there is no retry.
    @Test(
        arguments: [
            ("", 1e6, nil, 1), ("--retry-delay 0", 0, nil, 1), ("--retry-delay 0", 0, 3, 3),
            ("--retry-delay 0.5", 0, nil, 0.5), ("--retry-max-time 0", 1e6, 7, 7),
            ("--retry-max-time 5", 4, nil, 1), ("--retry-max-time 5", 4.5, nil, nil),
            ("--retry-max-time 5", 0, 6, nil), ("--retry-max-time 5 --retry-delay 2", 3, nil, 2),
        ] as [(String, Double, Double?, Double?)])
    func retriesEndAtTheirTimeLimit(
        _ line: String, _ elapsed: Double, _ retryAfter: Double?, _ delay: Double?
    ) throws {
        let words = ("--retry 2 h.test " + line).split(separator: " ").map(String.init)
        guard case .fetch(let invocation) = try CommandLineReader.read(words) else {
            throw UsageError("no fetch")
        }
        #expect(RetrySchedule(invocation).retryDelay(retryAfter: retryAfter, elapsed: elapsed) == delay)
    }
}
