// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineCommand

/// Tests that `-v`, `--print` and `--offline` print the requests that are sent: each as the origin receives it, and in order.
struct WireTests {
    /// Records the heads of received requests as text: each line ends with a line feed, and an empty line follows the head.
    private final class RequestLog: Sendable {
        private let heads = Lock<[String]>([])
        var all: [String] { heads.withLock { $0 } }

        func append(_ request: OriginRequest) {
            let head = request.head
            var text = "\(head.method.rawValue) \(head.target) \(head.version)\n"
            for index in 0..<head.fields.count {
                text += "\(head.fields.name(at: index)): \(head.fields.value(at: index))\n"
            }
            heads.withLock { $0.append(text + "\n") }
        }
    }

    /// Adds two routes and returns the log of their requests: `/moved` redirects to `/closed`, which requires Digest and answers
    /// the first authorized request with 503.
    private func addRoutes(to origin: LupineOrigin.Origin) -> RequestLog {
        let log = RequestLog()
        let isBusy = Lock(true)
        origin.route("POST", "/moved") { request throws(Refusal) in
            log.append(request)
            var response = try OriginResponse(307, "text/plain", [])
            try response.add("Location", "/closed")
            return response
        }
        origin.route("POST", "/closed") { request throws(Refusal) in
            log.append(request)
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
        return log
    }

    private static let options =
        "-s -L --digest -u me:pw --show-secrets --retry 1 --retry-delay 0.01 -H X-b:1 -H x-A:2 -d content"

    @Test func verbosePrintsEveryHopInOrder() async throws {
        try await withShell { shell, origin in
            let log = addRoutes(to: origin)
            let result = await shell.run("-v \(Self.options) :\(origin.port)/moved")
            #expect(result.output == "end", "\(result.errors)")
            let lines = result.errors.split(separator: "\n", omittingEmptySubsequences: false)
            let sent = lines.filter { $0.hasPrefix(">") }.map { $0.dropFirst($0.hasPrefix("> ") ? 2 : 1) }
            #expect(sent.joined(separator: "\n") + "\n" == log.all.joined())
            #expect(log.all.count > 4)
            // Requests and responses alternate.
            let starts = lines.filter { !$0.hasPrefix("*") && $0.contains("HTTP/1.1") }.map { $0.prefix(1) }
            #expect(starts == Array(repeating: [">", "<"], count: log.all.count).flatMap(\.self))
        }
    }

    @Test func printShowsTheWholeConversation() async throws {
        try await withShell { shell, origin in
            let log = addRoutes(to: origin)
            let result = await shell.run("--print HBhb \(Self.options) :\(origin.port)/moved")
            // Between two requests there is the head of one response.
            var unmatched = Substring(result.output)
            for head in log.all {
                let start = try #require(unmatched.firstRange(of: head + "content\n\n"), "\(result.output)")
                let before = unmatched[..<start.lowerBound]
                #expect(before.isEmpty || before.hasPrefix("HTTP/1.1 ") && before.hasSuffix("\r\n\r\n"))
                unmatched = unmatched[start.upperBound...]
            }
            #expect(unmatched.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(unmatched)")
            #expect(unmatched.hasSuffix("\r\n\r\nend"), "\(unmatched)")
        }
    }

    /// Checks fields that are removed or given twice, and content that is read from a file.
    @Test(arguments: [
        "", "-d a=b", "-H Accept: -H X-None;", "-T file", "--json -d {}", "-u me:pw -b a=b", "-X PUT",
        "--compressed",
        "-G -d q=1", "-F a=b",
    ])
    func offlinePrintsTheRequestThatWouldBeSent(_ options: String) async throws {
        try await withShell { shell, origin in
            try shell.write("file's content", to: "file")
            let log = RequestLog()
            for method in ["GET", "POST", "PUT"] {
                origin.route(method, "/x") { request throws(Refusal) in
                    log.append(request)
                    return try OriginResponse(200, "text/plain", [])
                }
            }
            let words = options.split(separator: " ").map(String.init) + [":\(origin.port)/x"]
            let offline = await shell.run(["--offline", "--print", "H", "--show-secrets"] + words)
            #expect(log.all.isEmpty)
            let sent = await shell.run(["--print", "H", "--show-secrets"] + words)
            #expect(offline.code == 0 && sent.code == 0, "\(offline.errors)\(sent.errors)")
            // The boundary of a form differs in each run.
            func withoutBoundary(_ text: String) -> String {
                text.replacing(/boundary=[^\n]*/, with: "boundary=")
            }
            #expect(sent.output == log.all.joined())
            #expect(withoutBoundary(offline.output) == withoutBoundary(sent.output))
        }
    }

    @Test func aRequestThatWasNotSentIsNotPrinted() async throws {
        try await Shell.withTemporaryFolder { shell in
            let result = await shell.run("-v --unix-socket nobody http://localhost/")
            #expect(result.code != 0)
            #expect(!result.errors.contains("> GET"), "\(result.errors)")
        }
    }

    @Test(arguments: ["ws://localhost/", "file:///etc/hostname"])
    func offlineFailsForOtherSchemes(_ address: String) async throws {
        try await Shell.withTemporaryFolder { shell in
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
