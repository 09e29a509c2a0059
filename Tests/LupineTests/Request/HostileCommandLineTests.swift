// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The curl command of a request with hostile parts, run by a real shell.
struct HostileCommandLineTests {
    /// Parts that a shell or curl could interpret. None contains NUL.
    static let texts = [
        "plain", "$(touch pwned)", "`touch pwned`", "$HOME", "${HOME}", "$'x'", "a\\", "\\\\", "a\\$b",
        "a\\`b", "\\\"", "\"; touch pwned; \"", "'; touch pwned; '", "a\nb", "a\\\nb", "\n", "\\n", "!x", "*",
        "~", "a b", "\t", "#x", "a #b", ";", "&", "|", "<x", ">x", "(x)", "{a,b}", "\u{1B}[2J", "\u{9B}2J",
        "\u{7F}", "\"\u{301}; touch pwned; \"\u{301}", "\\\u{301}", "$\u{301}(touch pwned)", "\u{2028}",
        "\r\n", "\r", "é", "😀", "@/etc/passwd", "-K/etc/passwd", "%00", "a=b", "",
    ]

    /// Returns the arguments that a shell passes to curl for a command.
    private static func words(_ line: String, withHistory: Bool = false) async throws -> [String] {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("words-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: path) }
        let start = try #require(line.hasPrefix("$ ") ? line.dropFirst(2) : nil)
        let run = withHistory ? CurlStandIn.runWithHistory : CurlStandIn.run
        let end = try await run(String(start), path.path)
        #expect(end == .exited(0), "\(line)")
        let octets = try Data(contentsOf: path)
        return octets.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether both have the same UTF-8. `==` would compare by canonical equivalence.
    private static func isSameUTF8(_ left: [String], _ right: [String]) -> Bool {
        left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
    }

    private static func command(
        method: String = "GET", showsPasswords: Bool = true, url: URL? = URL(string: "http://h.test/"),
        _ fill: (inout CURLCommand) -> Void
    ) throws -> String {
        var command = CURLCommand(method: method, showsPasswords: showsPasswords)
        fill(&command)
        return command.text(for: try #require(url))
    }

    private static let urlArgument = ["http://h.test/"]

    @Test("[R-85] a shell passes a field's name and value unchanged", arguments: texts)
    func fields(_ text: String) async throws {
        let line = try Self.command {
            $0.add(HTTPHeader(name: "X-Value", value: text))
            $0.add(HTTPHeader(name: "X\(text)", value: "1"))
        }
        let words = try await Self.words(line)
        let expected = ["-v", "-X", "GET", "-H", "X-Value: \(text)", "-H", "X\(text): 1"] + Self.urlArgument
        #expect(Self.isSameUTF8(words, expected), "\(line)")
    }

    @Test(
        "[R-85] a shell passes a body unchanged, and curl does not take it for a file name", arguments: texts)
    func bodies(_ text: String) async throws {
        let line = try Self.command(method: "POST") { $0.add(body: Data(text.utf8)) }
        let words = try await Self.words(line)
        let option = text.hasPrefix("@") ? "--data-raw" : "-d"
        #expect(Self.isSameUTF8(words, ["-v", "-X", "POST", option, text] + Self.urlArgument), "\(line)")
    }

    @Test(
        "[R-85] an interactive shell performs no history expansion in a command",
        arguments: [
            "!x", "a!: b", "!!", "a\\!", "\\\\!", "!\"", "!-1", "!$", "a !# b", "!{x}", "!\n", "!?before",
        ])
    func history(_ text: String) async throws {
        let line = try Self.command(method: "POST") {
            $0.add(HTTPHeader(name: "X-Value", value: text))
            $0.add(body: Data(text.utf8))
        }
        let words = try await Self.words(line, withHistory: true)
        let expected = ["-v", "-X", "POST", "-H", "X-Value: \(text)", "-d", text] + Self.urlArgument
        #expect(Self.isSameUTF8(words, expected), "\(line)")
    }

    @Test("[R-85] a shell passes methods, user names and passwords unchanged", arguments: texts)
    func usersAndMethods(_ text: String) async throws {
        let line = try Self.command(method: "M\(text)") { $0.add(user: "u\(text)", password: text) }
        let words = try await Self.words(line)
        #expect(
            Self.isSameUTF8(words, ["-v", "-X", "M\(text)", "-u", "u\(text):\(text)"] + Self.urlArgument),
            "\(line)")
    }

    @Test(
        "[R-85] a shell passes cookies unchanged, and curl does not take a single one for a file name",
        arguments: texts.filter { !$0.isEmpty && !$0.contains { $0 == ";" || $0.isNewline } })
    func cookies(_ text: String) async throws {
        for (name, value) in [("a", text), (text.replacingOccurrences(of: "=", with: "_"), "v")] {
            let cookie = HTTPCookie(properties: [.name: name, .value: value, .domain: "h.test", .path: "/"])
            // An invalid cookie is not sent.
            guard let cookie else { continue }
            let line = try Self.command { $0.add([cookie]) }
            let words = try await Self.words(line)
            let pair = "\(cookie.name)=\(cookie.value)"
            let sent = pair.hasPrefix("@") ? ["-H", "Cookie: \(pair)"] : ["-b", pair]
            #expect(Self.isSameUTF8(words, ["-v", "-X", "GET"] + sent + Self.urlArgument), "\(line)")
        }
    }

    @Test(
        "[R-85] a shell passes a URL unchanged",
        arguments: [
            "http://h.test/$(touch%20pwned)", "http://h.test/?a=$HOME&b='x'", "http://h.test/a;touch%20pwned",
            "http://h.test/?a=`x`", "http://h.test/!$&'()*+,;=:@", "http://[::1]:80/?q=[a]",
            "http://h.test/\\x",
        ])
    func addresses(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let line = try Self.command(url: url) { _ in }
        let words = try await Self.words(line)
        #expect(Self.isSameUTF8(words, ["-v", "-X", "GET", url.absoluteString]), "\(line)")
    }

    @Test(
        "[R-85] a body that is not text is replaced by a note",
        arguments: [Data([0xFF, 0xFE]), Data("a\0b".utf8), Data([0]), Data([0xC3])])
    func otherBodies(_ body: Data) async throws {
        let line = try Self.command { $0.add(body: body) }
        let words = try await Self.words(line)
        #expect(Self.isSameUTF8(words, ["-v", "-X", "GET"] + Self.urlArgument), "\(line)")
        #expect(
            line.hasSuffix("\"http://h.test/\" # the body is not shown: \(body.count) bytes that are no text")
        )
    }

    @Test("[R-85] passwords are shown only with `showsPasswords`", arguments: [false, true])
    func passwords(_ shows: Bool) async throws {
        let basic = HTTPHeader.authorization(username: "me", password: "s3cr3t")
        let line = try Self.command(
            showsPasswords: shows, url: URL(string: "http://me:s3cr3t@h.test/")
        ) {
            $0.add(user: "me", password: "s3cr3t")
            $0.add(basic)
            $0.add(HTTPHeader(name: "Proxy-Authorization", value: basic.value))
            $0.add(.authorization(bearerToken: "token"))
        }
        let secret = shows ? "s3cr3t" : "***"
        let value = shows ? basic.value : "Basic ***"
        let expected = [
            "-v", "-X", "GET", "-u", "me:\(secret)", "-H", "Authorization: \(value)", "-H",
            "Proxy-Authorization: \(value)", "-H", "Authorization: Bearer token",
            "http://me:\(secret)@h.test/",
        ]
        let words = try await Self.words(line)
        #expect(Self.isSameUTF8(words, expected), "\(line)")
    }

    @Test("[R-85] `cURLDescription` hides the password unless `showingPasswords` is true")
    func request() async throws {
        var setUp = PipelineSetUp()
        setUp.configure = { $0.urlCredentialStorage = URLCredentialStorage() }
        try await withPipeline(setUp) { stage in
            let request = stage.session.request(
                stage.url("/post"), method: .post, headers: ["X-$(id)": "`id` \\"],
                requestModifier: { $0.httpBody = Data("@$(id)\n".utf8) }
            ).authenticate(username: "own", password: "s3cr3t")
            _ = await request.answered()
            let line = request.cURLDescription()
            #expect(!line.contains("s3cr3t"))
            let words = try await Self.words(line)
            #expect(words.contains("own:***") && words.contains("X-$(id): `id` \\"), "\(line)")
            #expect(words.dropLast().last == "@$(id)\n" && words.dropLast(2).last == "--data-raw", "\(line)")
            let whole = try await Self.words(request.cURLDescription(showingPasswords: true))
            #expect(whole.contains("own:s3cr3t"))
        }
    }
}
