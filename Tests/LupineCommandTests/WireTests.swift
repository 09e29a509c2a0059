// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineCommand

/// Tests that `-v`, `--print` and `--offline` show what is sent: each request as the origin received it, and in order.
struct WireTests {
    /// The received requests as text: each line ends with a line feed, and an empty line follows the head.
    private final class Diary: Sendable {
        private let heads = Lock<[String]>([])
        var all: [String] { heads.withLock { $0 } }

        func note(_ request: OriginRequest) {
            let head = request.head
            var text = "\(head.method.rawValue) \(head.target) \(head.version)\n"
            for index in 0..<head.fields.count {
                text += "\(head.fields.name(at: index)): \(head.fields.value(at: index))\n"
            }
            heads.withLock { $0.append(text + "\n") }
        }
    }

    /// Adds routes: `/moved` redirects to `/closed`, which requires Digest, and is busy at the first authorized request.
    private func serve(_ origin: LupineOrigin.Origin) -> Diary {
        let diary = Diary()
        let isBusy = Lock(true)
        origin.route("POST", "/moved") { request throws(Refusal) in
            diary.note(request)
            var response = try OriginResponse(307, "text/plain", [])
            try response.add("Location", "/closed")
            return response
        }
        origin.route("POST", "/closed") { request throws(Refusal) in
            diary.note(request)
            guard request.field("Authorization") != nil else {
                var response = try OriginResponse(401, "text/plain", [])
                try response.add("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
                return response
            }
            let wasBusy = isBusy.withLock { isBusy in
                defer { isBusy = false }
                return isBusy
            }
            return try OriginResponse(wasBusy ? 503 : 200, "text/plain", [UInt8]("end".utf8))
        }
        return diary
    }

    private static let line =
        "-s -L --digest -u me:pw --show-secrets --retry 1 --retry-delay 0.01 -H X-b:1 -H x-A:2 -d content"

    @Test func verboseShowsEachStepAsItWent() async throws {
        try await withShell { shell, origin in
            let diary = serve(origin)
            let result = await shell.run("-v \(Self.line) :\(origin.port)/moved")
            #expect(result.output == "end", "\(result.errors)")
            let lines = result.errors.split(separator: "\n", omittingEmptySubsequences: false)
            let sent = lines.filter { $0.hasPrefix(">") }.map { $0.dropFirst($0.hasPrefix("> ") ? 2 : 1) }
            #expect(sent.joined(separator: "\n") + "\n" == diary.all.joined())
            #expect(diary.all.count > 4)
            // Requests and responses alternate.
            let starts = lines.filter { !$0.hasPrefix("*") && $0.contains("HTTP/1.1") }.map { $0.prefix(1) }
            #expect(starts == Array(repeating: [">", "<"], count: diary.all.count).flatMap(\.self))
        }
    }

    @Test func printShowsTheWholeConversation() async throws {
        try await withShell { shell, origin in
            let diary = serve(origin)
            let result = await shell.run("--print HBhb \(Self.line) :\(origin.port)/moved")
            // Between the requests, the head of one response each remains.
            var rest = Substring(result.output)
            for head in diary.all {
                let start = try #require(rest.firstRange(of: head + "content\n\n"), "\(result.output)")
                let before = rest[..<start.lowerBound]
                #expect(before.isEmpty || before.hasPrefix("HTTP/1.1 ") && before.hasSuffix("\r\n\r\n"))
                rest = rest[start.upperBound...]
            }
            #expect(rest.hasPrefix("HTTP/1.1 200 OK\r\n") && rest.hasSuffix("\r\n\r\nend"), "\(rest)")
        }
    }

    /// Checks fields that are removed or given twice, and content that is read from a file.
    @Test(arguments: [
        "", "-d a=b", "-H Accept: -H X-None;", "-T file", "--json -d {}", "-u me:pw -b a=b", "-X PUT",
        "--compressed",
        "-G -d q=1", "-F a=b",
    ])
    func offlineShowsWhatWouldGoOut(_ options: String) async throws {
        try await withShell { shell, origin in
            try shell.write("file's content", to: "file")
            let diary = Diary()
            for method in ["GET", "POST", "PUT"] {
                origin.route(method, "/x") { request throws(Refusal) in
                    diary.note(request)
                    return try OriginResponse(200, "text/plain", [])
                }
            }
            let words = options.split(separator: " ").map(String.init) + [":\(origin.port)/x"]
            let shown = await shell.run(["--offline", "--print", "H", "--show-secrets"] + words)
            #expect(diary.all.isEmpty)
            let sent = await shell.run(["--print", "H", "--show-secrets"] + words)
            #expect(shown.code == 0 && sent.code == 0, "\(shown.errors)\(sent.errors)")
            // The boundary of a form is different in each run.
            func normal(_ text: String) -> String {
                text.replacing(/boundary=[^\n]*/, with: "boundary=")
            }
            #expect(sent.output == diary.all.joined())
            #expect(normal(shown.output) == normal(sent.output))
        }
    }

    @Test func aRequestThatNeverWentOutIsNotShown() async throws {
        try await Shell.use { shell in
            let result = await shell.run("-v --unix-socket nobody http://localhost/")
            #expect(result.code != 0)
            #expect(!result.errors.contains("> GET"), "\(result.errors)")
        }
    }

    @Test(arguments: ["ws://localhost/", "file:///etc/hostname"])
    func offlineSaysWhatItCannotShow(_ address: String) async throws {
        try await Shell.use { shell in
            let result = await shell.run(["--offline", address])
            #expect(result.code != 0)
            #expect(result.errors.hasPrefix("lupine: Cannot load \(address): "), "\(result.errors)")
            #expect(!result.errors.contains("UserInfo"))
        }
    }

    @Test func theHandshakeOfAWebSocketIsShown() async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.input = Data("hello\n".utf8)
            let result = await shell.run("-v ws://localhost:\(origin.port)/websocket")
            #expect(result.errors.contains("> Upgrade: websocket\n"), "\(result.errors)")
            #expect(result.errors.contains("< HTTP/1.1 101 "), "\(result.errors)")
        }
    }
}
