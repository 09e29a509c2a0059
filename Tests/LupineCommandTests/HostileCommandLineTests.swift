// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests of `--to-curl` with hostile names, values, URLs and bodies: a real shell runs the printed line.
struct HostileCommandLineTests {
    /// Texts that have a special meaning for a shell or for curl. None contains NUL.
    static let texts = [
        "plain", "$(touch pwned)", "`touch pwned`", "$HOME", "a\\", "\\\\", "a\\$b", "\\\"",
        "\"; touch pwned; \"", "'; touch pwned; '", "'\u{301}; touch pwned; '\u{301}", "a\nb", "a\\\nb", "!x",
        "*", "~", "a b", "#x", ";", "&", "|", "<x", ">x", "(x)", "{a,b}", "\u{1B}[2J", "\u{9B}2J", "\u{7F}",
        "\u{2028}", "\r\n", "é", "😀", "@/etc/passwd", "-K/etc/passwd", "%00", "a=b", "=a",
    ]

    /// Runs the command with `--to-curl`, and the printed line in a shell. Returns the arguments that the shell passes to curl.
    private static func curlArguments(_ arguments: [String]) async throws -> [String] {
        try await Shell.withTemporaryFolder { shell in
            let result = await shell.run(["--to-curl"] + arguments)
            #expect(result.code == 0, "\(result.errors)")
            let path = shell.folder + "/words"
            let end = try await CurlStandIn.run(result.output, writingTo: path)
            #expect(end == .exited(0), "\(result.output)")
            return try shell.read("words").split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Whether two words occur one after the other, compared octet by octet.
    private static func contains(_ words: [String], _ first: String, _ second: String) -> Bool {
        zip(words, words.dropFirst()).contains {
            Array($0.utf8) == Array(first.utf8) && Array($1.utf8) == Array(second.utf8)
        }
    }

    @Test(arguments: texts)
    func fieldsAreQuotedForAShell(_ text: String) async throws {
        let words = try await Self.curlArguments([
            "-H", "X-Value:\(text)", "-H", "X\(text)x:1", "http://h.test/",
        ])
        #expect(Self.contains(words, "-H", "X-Value: \(text)"), "\(words)")
        if !text.contains(":") { #expect(Self.contains(words, "-H", "X\(text)x: 1"), "\(words)") }
        #expect(words.last == "http://h.test/")
    }

    @Test(arguments: texts)
    func bodiesAreQuotedForAShell(_ text: String) async throws {
        let words = try await Self.curlArguments(["--raw", text, "http://h.test/"])
        #expect(Self.contains(words, text.hasPrefix("@") ? "--data-raw" : "-d", text), "\(words)")
    }

    @Test(arguments: texts)
    func credentialsProxiesAndFilesAreQuotedForAShell(_ text: String) async throws {
        let words = try await Self.curlArguments([
            "--show-secrets", "-u", "u:\(text)", "-x", "http://p:\(text)@proxy.test:1", "--pass", text, "-o",
            text,
            "--interface", text, "http://h.test/",
        ])
        for (first, second) in [
            ("-u", "u:\(text)"), ("-x", "http://p:\(text)@proxy.test:1"), ("--pass", text), ("-o", text),
            ("--interface", text),
        ] { #expect(Self.contains(words, first, second), "\(words)") }
    }

    @Test(arguments: [
        "$(touch%20pwned)", "`x`", "'x'", "\"x\"", "a;b", "?a=$HOME&b=c", "!x", "{a,b}", "[1-9]", "é",
    ])
    func urlsAreQuotedForAShell(_ text: String) async throws {
        let url = try Address("http://h.test/\(text)").url().absoluteString
        let words = try await Self.curlArguments(["http://h.test/\(text)"])
        #expect(words.last == url, "\(words)")
        // curl would expand brackets and braces into several URLs; for lupine they are ordinary characters.
        let isPattern = url.contains { "[]{}".contains($0) }
        #expect(words.contains("-g") == isPattern, "\(words)")
    }

    @Test func aBinaryBodyIsNotShown() async throws {
        try await Shell.withTemporaryFolder { shell in
            try Data([0xFF, 0x00, 0x41]).write(to: URL(fileURLWithPath: shell.folder + "/blob"))
            let result = await shell.run(["--to-curl", "--data-binary", "@blob", "http://h.test/"])
            #expect(
                result.output.hasSuffix(
                    " http://h.test/ # the body is not shown: 3 bytes that are no text\n"),
                "\(result.output)")
            let end = try await CurlStandIn.run(result.output, writingTo: shell.folder + "/words")
            #expect(end == .exited(0))
            let words = String(decoding: try shell.read("words"), as: UTF8.self)
            #expect(words.hasSuffix("http://h.test/\0"))
        }
    }

    /// Checks that a cookie whose name begins with `@` is not passed by `-b`, since curl would read cookies from a file of this
    /// name.
    @Test(arguments: [["-b", "@a=b"], ["-b", "@a=b", "--session", "me"]])
    func aCookieIsNotPassedAsAFileName(_ options: [String]) async throws {
        let words = try await Self.curlArguments(["--show-secrets"] + options + ["http://h.test/"])
        #expect(Self.contains(words, "-H", "Cookie: @a=b") && !words.contains("-b"), "\(words)")
    }

    @Test(arguments: [
        ["-u", "me:s3cr3t"], ["-x", "http://me:s3cr3t@proxy.test:1"], ["-x", "me:s3cr3t@proxy.test:1"],
        ["-x", "socks5://me:s3cr3t@proxy.test"], ["--pass", "s3cr3t"], ["--cert", "client.pem:s3cr3t"],
        ["-H", "Authorization: Basic bWU6czNjcjN0"], ["-H", "Proxy-Authorization: s3cr3t"],
        ["-b", "a=s3cr3t"], ["-H", "Cookie: a=s3cr3t"], ["--session", "me", "-b", "a=s3cr3t"],
        ["-H", "X-Api-Key: s3cr3t"],
    ])
    func secretsAreHiddenUnlessRequested(_ options: [String]) async throws {
        let hidden = try await Self.curlArguments(options + ["http://h.test/"])
        #expect(!hidden.contains { $0.contains("s3cr3t") || $0.contains("bWU6czNjcjN0") }, "\(hidden)")
        #expect(hidden.contains { $0.hasSuffix("***") || $0.contains(":***@proxy.test") }, "\(hidden)")
        let shown = try await Self.curlArguments(["--show-secrets"] + options + ["http://h.test/"])
        #expect(shown.contains { $0.contains("s3cr3t") || $0.contains("bWU6czNjcjN0") }, "\(shown)")
    }

    /// Checks that the error of an invalid certificate does not contain its password.
    @Test func errorsContainNoPassword() async throws {
        try await withShell { shell, origin in
            try shell.write("no certificate", to: "client.p12")
            let result = await shell.run("--cert client.p12:s3cr3t https://localhost:\(origin.port)/")
            #expect(result.code == ExitCode.clientCertificate.rawValue, "\(result.errors)")
            #expect(
                result.errors.contains("client.p12:") && !result.errors.contains("s3cr3t"), "\(result.errors)"
            )
        }
    }
}
