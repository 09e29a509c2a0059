// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineShow
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineCommand

/// Tests of the command over HTTP/2: when the command uses it, and what it prints about it.
struct HTTP2Tests {
    /// Calls `body` with an origin that supports HTTP/2, and with the root of its URLs.
    ///
    /// - Parameters:
    ///   - offered: The protocols that the origin supports in ALPN; nil for an origin without TLS.
    ///   - body: The test.
    private func withHTTP2Origin(
        _ offered: [String]?, _ body: (Shell, LupineOrigin.Origin, _ address: String) async throws -> Void
    ) async throws {
        var configuration = OriginConfiguration()
        configuration.http2 = HTTP2Behaviour()
        if let offered {
            var tls = TLSServerConfiguration(identities: [TLSServerIdentity(try EphemeralIdentity.make())])
            tls.applicationProtocols = offered
            configuration.tls = tls
        }
        try await withShell(configuration) { shell, origin in
            let scheme = offered == nil ? "http" : "https"
            try await body(shell, origin, "\(scheme)://localhost:\(origin.port)")
        }
    }

    private static let both = ["h2", "http/1.1"]

    /// Options, the protocols that the origin offers, and the version that the command uses.
    struct Row: Sendable, CustomTestStringConvertible {
        let options: String
        let offered: [String]?
        let version: String

        init(_ options: String, _ offered: [String]?, _ version: String) {
            self.options = options
            self.offered = offered
            self.version = version
        }

        var testDescription: String {
            "\(options.isEmpty ? "no option" : options), \(offered.map { "\($0)" } ?? "http"): \(version)"
        }
    }

    @Test(arguments: [
        Row("", both, "2"), Row("", ["http/1.1"], "1.1"), Row("", nil, "1.1"), Row("--http1.1", both, "1.1"),
        Row("--http2", both, "2"), Row("--http2", ["http/1.1"], "1.1"), Row("--http2", [], "1.1"),
        Row("--http2", nil, "1.1"),
        Row("--http2-prior-knowledge", both, "2"), Row("--http2-prior-knowledge", nil, "2"),
        Row("--http2 --http1.1", both, "1.1"), Row("--http1.1 --http2", both, "2"),
        Row("--http2-prior-knowledge --http2", nil, "1.1"),
        Row("--http2 --http2-prior-knowledge", nil, "2"),
    ])
    func theLastVersionOptionApplies(_ row: Row) async throws {
        try await withHTTP2Origin(row.offered) { shell, _, address in
            let result = await shell.run(
                "-s -k -i \(row.options) -w |%{http_version}|%{http_code}|%{num_headers} \(address)/robots.txt"
            )
            #expect(result.code == 0, "\(result.errors)")
            let isHTTP2 = row.version == "2"
            #expect(result.output.hasPrefix(isHTTP2 ? "HTTP/2 200\r\n" : "HTTP/1.1 200 OK\r\n"))
            let end = "User-agent: *\nDisallow: /deny\n|\(row.version)|200|3"
            #expect(result.output.hasSuffix(end), "\(result.output)")
        }
    }

    @Test func priorKnowledgeRefusesAServerWithoutHTTP2() async throws {
        for offered in [["http/1.1"], []] {
            try await withHTTP2Origin(offered) { shell, origin, address in
                let result = await shell.run("-k --http2-prior-knowledge \(address)/robots.txt")
                #expect(result.code == ExitCode.tls.rawValue)
                #expect(result.errors.contains("--http2 takes HTTP/1.1"), "\(result.errors)")
                #expect(origin.counts.requests == 0)
            }
        }
    }

    @Test func aServerOfTheOtherVersionIsExplained() async throws {
        try await withShell { shell, origin in
            let result = await shell.run("--http2-prior-knowledge :\(origin.port)/robots.txt")
            #expect(result.code == ExitCode.notHTTP.rawValue)
            #expect(result.errors.contains("Without --http2-prior-knowledge"), "\(result.errors)")
        }
    }

    /// Returns the head of a received request as the command prints it: a request line, and the pseudo-header fields that it does
    /// not contain among the fields.
    private static func headText(_ request: OriginRequest) -> String {
        let head = request.head
        var text = "\(head.method.rawValue) \(head.target) \(head.version)\n"
        text += ":scheme: \(request.tls == nil ? "http" : "https")\n"
        for index in 0..<head.fields.count {
            let name = head.fields.name(at: index).lowercased()
            text += "\(name == "host" ? ":authority" : name): \(head.fields.value(at: index))\n"
        }
        return text + "\n"
    }

    /// Records the heads of received requests.
    private final class RequestLog: Sendable {
        private let heads = Lock<[String]>([])
        var all: [String] { heads.withLock { $0 } }

        func append(_ head: String) { heads.withLock { $0.append(head) } }
    }

    /// Adds a route for POST of `/x`, and returns the log of its requests.
    private func addRoute(to origin: LupineOrigin.Origin) -> RequestLog {
        let log = RequestLog()
        origin.route("POST", "/x") { request throws(Refusal) in
            log.append(Self.headText(request))
            var response = try OriginResponse(200, "text/plain", [UInt8]("end".utf8))
            try response.add("X-Seen", "Yes")
            return response
        }
        return log
    }

    /// Returns the sorted lines of a text.
    private static func sortedLines(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init).sorted()
    }

    @Test(arguments: [both, nil])
    func verbosePrintsTheSentRequest(_ offered: [String]?) async throws {
        try await withHTTP2Origin(offered) { shell, origin, address in
            let log = addRoute(to: origin)
            let version = offered == nil ? "--http2-prior-knowledge" : "--http2"
            let result = await shell.run(
                "-s -k -v --show-secrets \(version) -u me:pw -H X-Own:1 -d content \(address)/x?q=1")
            #expect(result.output == "end", "\(result.errors)")
            let lines = result.errors.split(separator: "\n", omittingEmptySubsequences: false).map(
                String.init)
            let sent = lines.filter { $0.hasPrefix("> ") }.map { $0.dropFirst(2) }
            #expect(sent.first == "POST /x?q=1 HTTP/2")
            #expect(
                sent.contains("x-own: 1") && sent.contains(":authority: \(address.split(separator: "/")[1])"))
            let text = try #require(log.all.first)
            #expect(log.all.count == 1)
            #expect(Self.sortedLines(sent.joined(separator: "\n")) == Self.sortedLines(text))
            #expect(lines.contains("< HTTP/2 200") && lines.contains("< x-seen: Yes"), "\(result.errors)")
            let report = try #require(lines.last { $0.hasPrefix("* ") })
            #expect(report.contains(", new connection, \(offered == nil ? "" : "TLS 1.3, ")HTTP/2, sent "))
        }
    }

    @Test func verboseTwicePrintsHTTP2Events() async throws {
        try await withHTTP2Origin(Self.both) { shell, _, address in
            let twice = await shell.run("-s -k -vv \(address)/robots.txt \(address)/robots.txt")
            let lines = twice.errors.split(separator: "\n").filter { $0.hasPrefix("* HTTP/2: ") }
            #expect(lines.first == "* HTTP/2: stream 1", "\(twice.errors)")
            #expect(lines.contains("* HTTP/2: stream 3"), "\(twice.errors)")
            #expect(lines.contains { $0.contains("SETTINGS_MAX_CONCURRENT_STREAMS 100") }, "\(twice.errors)")
            let once = await shell.run("-s -k -v \(address)/robots.txt")
            #expect(!once.errors.contains("* HTTP/2: "))
            let other = await shell.run("-s -k -v -v --http1.1 \(address)/robots.txt")
            #expect(other.errors.contains("< HTTP/1.1 200") && !other.errors.contains("* HTTP/2: "))
        }
    }

    @Test func secretsAreHiddenWhateverTheCaseOfTheirNames() async throws {
        try await withHTTP2Origin(Self.both) { shell, _, address in
            let result = await shell.run("-s -k -v --http2 -H Authorization:s3cr3t \(address)/robots.txt")
            #expect(result.errors.contains("> authorization: (hidden)\n"), "\(result.errors)")
            #expect(!result.errors.contains("s3cr3t"))
        }
    }

    @Test func printShowsBothMessages() async throws {
        try await withHTTP2Origin(nil) { shell, origin, address in
            let log = addRoute(to: origin)
            let line = "--print HBhb --http2-prior-knowledge --show-secrets -d content \(address)/x"
            let sent = await shell.run(line)
            let shown = await shell.run("--offline \(line)")
            #expect(sent.code == 0 && shown.code == 0, "\(sent.errors)\(shown.errors)")
            #expect(log.all.count == 1)
            #expect(shown.output.hasPrefix("POST /x HTTP/2\n:scheme: http\n:authority: localhost:"))
            #expect(sent.output.hasPrefix(shown.output), "\(shown.output)")
            #expect(sent.output.dropFirst(shown.output.count).hasPrefix("HTTP/2 200\r\n"), "\(sent.output)")
        }
    }

    @Test func headsAreSaved() async throws {
        try await withHTTP2Origin(Self.both) { shell, _, address in
            let result = await shell.run("-s -k -D heads --http2 \(address)/robots.txt")
            #expect(result.code == 0)
            let heads = String(decoding: try shell.read("heads"), as: UTF8.self)
            #expect(heads.hasPrefix("HTTP/2 200\r\n") && heads.contains("\r\ncontent-type: text/plain\r\n"))
        }
    }

    @Test func oneConnectionCarriesSeveralTransfers() async throws {
        try await withHTTP2Origin(Self.both) { shell, origin, address in
            let urls = (1...6).map { "\(address)/range/\($0)" }
            let sequential = await shell.run(["-s", "-k", "--http2"] + urls)
            #expect(sequential.output == "aababcabcdabcdeabcdef", "\(sequential.errors)")
            #expect(origin.counts.connectionsAccepted == 1)
            let files = (1...6).flatMap { ["-o", "f\($0)"] }
            let concurrent = await shell.run(["-s", "-k", "--http2"] + files + urls)
            #expect(concurrent.code == 0, "\(concurrent.errors)")
            for count in 1...6 {
                let file = try shell.read("f\(count)")
                #expect(file.count == count)
            }
        }
    }

    @Test func downloadsAreResumedOverHTTP2() async throws {
        try await withHTTP2Origin(Self.both) { shell, _, address in
            try shell.write("abc", to: "part")
            let result = await shell.run("-s -k --http2 -C - -o part \(address)/range/12")
            #expect(result.code == 0, "\(result.errors)")
            #expect(String(decoding: try shell.read("part"), as: UTF8.self) == "abcdefghijkl")
        }
    }

    @Test(
        "[H-13.3, H-13.4] a web socket alone goes over HTTP/1.1, unless HTTP/2 alone is spoken",
        arguments: [("--http2", "HTTP/1.1 101 "), ("--http2-prior-knowledge", "HTTP/2 200")])
    func webSockets(_ version: String, _ answer: String) async throws {
        for offered in [Self.both, nil] {
            try await withHTTP2Origin(offered) { shell, _, address in
                var shell = shell
                shell.input = Data("hello\n".utf8)
                let url = address.replacing("http", with: "ws")
                let result = await shell.run("-k -v \(version) \(url)/websocket")
                #expect(result.output == "hello\n", "\(result.errors)")
                #expect(result.errors.contains("< \(answer)"), "\(result.errors)")
            }
        }
    }

    @Test(arguments: [
        ("https://h.test/", "", ""), ("--http1.1 https://h.test/", " --http1.1", ""),
        ("--http1.1 http://h.test/", "", ""),
        ("--http2 https://h.test/", "", ""), ("--http2 http://h.test/", "", ""),
        ("--http2-prior-knowledge https://h.test/", " --http2-prior-knowledge", ""),
        ("--http2-prior-knowledge -L http://h.test/", " --http2-prior-knowledge", " -L"),
        ("--http2-prior-knowledge ws://h.test/", "", ""),
        ("--http2 --http1.1 https://h.test/", " --http1.1", ""),
    ])
    func curlLinesContainTheVersionOption(_ line: String, _ version: String, _ other: String) async throws {
        try await Shell.withTemporaryFolder { shell in
            let result = await shell.run("--to-curl -H User-Agent:a \(line)")
            let url = try #require(line.split(separator: " ").last)
            #expect(result.output == "curl -H 'User-Agent: a'\(version)\(other) --compressed \(url)\n")
        }
    }

    /// Checks `lupine serve` with clients that choose HTTP/2 in the TLS handshake or use it with prior knowledge.
    @Test(arguments: [true, false])
    func serveSupportsBothHTTPVersions(_ usesTLS: Bool) async throws {
        try await Shell.withTemporaryFolder { shell in
            let interruption = Interruption()
            let (outputs, continuation) = AsyncStream.makeStream(of: String.self)
            let output = Shell.Recorder { continuation.yield(String(decoding: $0, as: UTF8.self)) }
            let context = ProcessContext(
                environment: shell.environment, folder: shell.folder, input: .init(kind: .other),
                output: .init { output.write($0) }, errors: .init { _ in }, interruption: interruption)
            async let code = Serve.run(["--port", "0"] + (usesTLS ? ["--tls"] : []), context)
            defer { interruption.interrupt() }
            let text = try #require(await outputs.first { $0.contains("Ctrl-C") })
            let words = text.split { $0 == " " || $0 == "\n" }.map(String.init)
            let url = try #require(words.first { $0.hasPrefix("http") })
            let root = words.firstIndex(of: "--cacert").map { ["--cacert", words[$0 + 1]] } ?? []
            let version = usesTLS ? "--http2" : "--http2-prior-knowledge"
            for (option, usedVersion) in [(version, "2"), ("--http1.1", "1.1")] {
                let result = await shell.run(
                    ["-s", option, "-w", "|%{http_version}", "\(url)/robots.txt"] + root)
                let expected = "User-agent: *\nDisallow: /deny\n|\(usedVersion)"
                #expect(result.output == expected, "\(result.errors)")
            }
            interruption.interrupt()
            #expect(await code == 0)
            #expect(
                String(decoding: output.content, as: UTF8.self).hasSuffix("2 requests on 2 connections.\n"))
        }
    }
}
