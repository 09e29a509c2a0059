// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTransport
import Testing

@testable import LupineCommand

/// Tests of requests that the command sends to an origin in this process.
struct FetchTests {
    @Test func aPipeGetsTheBodyUnchanged() async throws {
        try await withShell { shell, origin in
            let content = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            origin.route("GET", "/blob") { _ throws(Refusal) in
                try OriginResponse(200, "application/octet-stream", [UInt8](content))
            }
            let result = await shell.run(":\(origin.port)/blob")
            #expect(result.bytes == content)
            #expect(result.errors.isEmpty)
        }
    }

    @Test func defaultFieldsCanBeRemoved() async throws {
        try await withShell { shell, origin in
            let result = await shell.run(":\(origin.port)/headers User-Agent: Accept:")
            #expect(!result.output.contains("User-Agent") && !result.output.contains("\"Accept\""))
            #expect(!result.output.contains("Accept-Language"))
        }
    }

    @Test(arguments: ["200", "12000000"])
    func aFileIsSentAgainAfterARedirect(_ size: String) async throws {
        try await withShell { shell, origin in
            let count = try #require(Int(size))
            try Data(count: count).write(to: URL(fileURLWithPath: shell.folder + "/blob"))
            let url = ":\(origin.port)/redirect-to?url=/hash&status_code=307"
            let result = await shell.run(["-sS", "-L", "-T", "blob", url])
            #expect(result.output.contains("\"bytes\": \(count),"), "\(result.errors)")
        }
    }

    @Test(arguments: [200, 9 << 20])
    func aFileIsSentAgainAfterAChallenge(_ count: Int) async throws {
        try await withShell { shell, origin in
            let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            try bytes.write(to: URL(fileURLWithPath: shell.folder + "/blob"))
            let bodySizes = Lock<[Int]>([])
            let isComplete = Lock(false)
            origin.route("PUT", "/closed") { request throws(Refusal) in
                bodySizes.withLock { $0.append(request.body.count) }
                guard request.field("Authorization")?.hasPrefix("Digest ") == true else {
                    var response = try OriginResponse(401, "text/plain", [])
                    try response.add("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
                    return response
                }
                isComplete.withLock { $0 = request.body == [UInt8](bytes) }
                return try OriginResponse(200, "text/plain", [UInt8]("taken".utf8))
            }
            let result = await shell.run("-sS -T blob --digest -u me:pw :\(origin.port)/closed")
            #expect(result.code == 0 && result.output == "taken", "\(result.errors)")
            #expect(bodySizes.withLock { $0 } == [count, count] && isComplete.withLock { $0 })
        }
    }

    @Test func fileAndDataURLsArePrinted() async throws {
        try await Shell.withTemporaryFolder { shell in
            try shell.write("kept\n", to: "file")
            let file = await shell.run("file://\(shell.folder)/file")
            #expect(file.output == "kept\n")
            let data = await shell.run("data:text/plain,hello")
            #expect(data.output == "hello")
        }
    }

    @Test func aRefusedTunnelIsExplained() async throws {
        try await withShell { shell, origin in
            let result = await shell.run("-x 127.0.0.1:\(origin.port) https://flower.test/")
            #expect(result.code == ExitCode.proxy.rawValue)
            #expect(result.errors.contains("it answered 404"), "\(result.errors)")
        }
    }

    @Test func cookiesAreKeptInAJarAndSentAgain() async throws {
        try await withShell { shell, origin in
            _ = await shell.run("-c jar -L :\(origin.port)/cookies/set/colour/blue")
            let jar = String(decoding: try shell.read("jar"), as: UTF8.self)
            #expect(jar.contains("\tcolour\tblue\n"))
            let result = await shell.run("-b jar :\(origin.port)/cookies")
            #expect(result.output.contains("\"colour\": \"blue\""))
            let without = await shell.run("-L :\(origin.port)/cookies/set/colour/blue")
            #expect(!without.output.contains("blue"))
        }
    }

    @Test func theFileOfHeadsIsReadableByItsOwnerOnly() async throws {
        try await withShell { shell, origin in
            _ = await shell.run("-D heads :\(origin.port)/cookies/set/colour/blue")
            let heads = String(decoding: try shell.read("heads"), as: UTF8.self)
            #expect(heads.contains("colour=blue"))
            let values = try FileManager.default.attributesOfItem(atPath: shell.folder + "/heads")
            #expect((values[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    /// Checks that heads are not written to a file of another user, who may have created it to read them.
    @Test(.enabled(if: geteuid() == 0, "only root can make a file of another user"))
    func headsAreNotWrittenToAFileOfAnotherUser() async throws {
        try await withShell { shell, origin in
            let path = shell.folder + "/heads"
            #expect(
                FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.ownerAccountID: 65_534]))
            let result = await shell.run("-D heads :\(origin.port)/cookies/set/colour/blue")
            #expect(result.code != 0 && result.errors.contains("heads"))
            let kept = try shell.read("heads")
            #expect(kept.isEmpty)
        }
    }

    @Test func sessionsKeepCookiesAndFieldsForTheirOwnerOnly() async throws {
        try await withShell { shell, origin in
            _ = await shell.run("--session me :\(origin.port)/cookies/set/a/b X-Token:t")
            let path = shell.folder + "/.local/share/lupine/sessions/http_localhost_\(origin.port)/me.json"
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let result = await shell.run("--session me :\(origin.port)/headers")
            #expect(
                result.output.contains("\"X-Token\": \"t\"") && result.output.contains("\"Cookie\": \"a=b\""))
            let other = await shell.run("--session other :\(origin.port)/headers")
            #expect(!other.output.contains("X-Token"))
        }
    }

    @Test func curlLinesHideSecretsUnlessRequested() async throws {
        try await Shell.withTemporaryFolder { shell in
            let line = "--to-curl -u me:secret1 -H X-Api-Key:secret2 -b a=secret3 POST h.test/x a=b"
            let hidden = await shell.run(line)
            #expect(!hidden.output.contains("secret"))
            #expect(hidden.output.contains("-u 'me:***'"))
            let shown = await shell.run(line + " --show-secrets")
            for secret in ["secret1", "secret2", "secret3"] { #expect(shown.output.contains(secret)) }
            #expect(shown.output.contains("-d '{\"a\": \"b\"}'"))
        }
    }

    @Test func requestsAreRetriedUntilTheySucceed() async throws {
        try await withShell { shell, origin in
            let count = Lock(0)
            origin.route("GET", "/flaky") { _ throws(Refusal) in
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                return try OriginResponse(number < 2 ? 503 : 200, "text/plain", [UInt8]("try \(number)".utf8))
            }
            let result = await shell.run("--retry 2 --timing=json :\(origin.port)/flaky")
            #expect(result.code == 0)
            #expect(result.output == "try 2")
            #expect(result.errors.contains("trying again in 1.00 s"))
            #expect(result.errors.contains("\"status\": 503") && result.errors.contains("\"status\": 200"))
        }
    }

    /// Checks that a request whose body was read from a pipe or a terminal is not retried, since the body cannot be read again.
    @Test(arguments: [
        (ProcessContext.Input.Kind.pipe, "--retry 2", ["text"], 0), (.terminal, "--retry 2", ["text"], 0),
        (.file, "--retry 2", ["text", "text", "text"], 0), (.file, "-f --retry 1", ["text", "text"], 24),
        (.pipe, "-f --retry 2", ["text"], 24), (.pipe, "-f --retry 2 --retry-all-errors", ["text"], 24),
    ])
    func theStandardInputIsSentOnceUnlessItIsAFile(
        _ kind: ProcessContext.Input.Kind, _ options: String, _ expectedBodies: [String], _ code: Int32
    ) async throws {
        try await withShell { shell, origin in
            let bodies = Lock<[String]>([])
            origin.route("PUT", "/busy") { request throws(Refusal) in
                bodies.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
                return try OriginResponse(503, "text/plain", [UInt8]("not now".utf8))
            }
            try shell.write("text", to: "input")
            var shell = shell
            shell.inputKind = kind
            shell.inputPath = shell.folder + "/input"
            let result = await shell.run("\(options) --retry-delay 0.01 -T - :\(origin.port)/busy")
            #expect(result.code == code, "\(result.errors)")
            #expect(result.output == (code == 0 ? "not now" : ""))
            #expect(bodies.withLock { $0 } == expectedBodies)
            #expect(result.errors.contains("trying again") == (expectedBodies.count > 1), "\(result.errors)")
        }
    }

    /// Checks that a request with the standard input is retried if the first attempt found no server, and so read nothing of it.
    @Test func theStandardInputIsNotReadByAFailedConnection() async throws {
        try await Shell.withTemporaryFolder { shell in
            try shell.write("text", to: "input")
            var shell = shell
            shell.inputKind = .pipe
            shell.inputPath = shell.folder + "/input"
            let line = "--retry 1 --retry-delay 0.01 --retry-connrefused -T - http://127.0.0.1:1/"
            let result = await shell.run(line)
            #expect(result.code == ExitCode.connect.rawValue)
            #expect(result.errors.contains("trying again in"), "\(result.errors)")
        }
    }

    @Test(arguments: [
        ("-u me", "/basic-auth/me/typed", true), ("-u me:typed", "/basic-auth/me/typed", false),
        ("--auth-type bearer --auth me", "/bearer", false), ("--oauth2-bearer me", "/bearer", false),
        ("-u me --oauth2-bearer me", "/bearer", false),
    ])
    func aPasswordIsAskedForUnlessThereIsAToken(
        _ options: String, _ path: String, _ isAsked: Bool
    ) async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.inputKind = .terminal
            shell.password = "typed"
            let result = await shell.run("\(options) :\(origin.port)\(path)")
            #expect(result.errors.contains("Password for me: ") == isAsked, "\(result.errors)")
            #expect(
                result.output.contains(path == "/bearer" ? "\"token\": \"me\"" : "true"), "\(result.output)")
        }
    }

    @Test func aRetryWritesTheFileOfTheFirstAttempt() async throws {
        try await withShell { shell, origin in
            let head =
                "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=given\r\nContent-Length: 5\r\n"
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([.send(head + "\r\n"), .close]),
                    Script([.send(head + "Connection: close\r\n\r\nwhole"), .close]),
                ]))
            let result = await shell.run("--retry 1 -O -J :\(origin.port)/x")
            #expect(result.code == 0, "\(result.errors)")
            let content = String(decoding: try shell.read("given"), as: UTF8.self)
            #expect(content == "whole")
        }
    }

    @Test func theDelayBeforeAReconnectionCanBeInterrupted() async throws {
        try await withShell { shell, origin in
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            origin.script(
                "GET", "/x", ScriptPlan([Script([.send(head + "retry: 600000\ndata: 1\n\n"), .close])]))
            var shell = shell
            let interruption = shell.interruption
            shell.onError = { data in
                if String(decoding: data, as: UTF8.self).contains("again in") { interruption.interrupt() }
            }
            let result = await shell.run("--sse --retry 1 :\(origin.port)/x")
            #expect(result.code == 130, "\(result.errors)")
        }
    }

    @Test func aClosedOutputEndsTheEventStream() async throws {
        try await withShell { shell, origin in
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            origin.script(
                "GET", "/x", ScriptPlan([Script([.send(head + "retry: 600000\ndata: 1\n\n"), .stall])]))
            var shell = shell
            shell.outputFailure = POSIXError(.EPIPE)
            let result = await shell.run("--sse --retry 1 :\(origin.port)/x")
            #expect(result.code == ExitCode.write.rawValue, "\(result.errors)")
            #expect(result.errors.contains("standard output"), "\(result.errors)")
        }
    }

    @Test func resolveAndUnixSocketsReplaceALookUp() async throws {
        try await withShell { shell, origin in
            let resolved = await shell.run(
                "--resolve flower.test:\(origin.port):127.0.0.1 flower.test:\(origin.port)/headers")
            #expect(resolved.output.contains("\"Host\": \"flower.test:\(origin.port)\""))
            let other = try LupineOrigin.Origin.start(at: .unix(path: shell.folder + "/s"))
            let result = await shell.run("--unix-socket s flower.test/headers")
            #expect(result.output.contains("\"Host\": \"flower.test\""), "\(result.errors)")
            await other.shutdown()
        }
    }

    @Test func requestsGoThroughTheProxy() async throws {
        try await withShell { shell, proxy in
            let proxiedRequests = Lock<[String]>([])
            proxy.route("GET", "/through") { request throws(Refusal) in
                proxiedRequests.withLock {
                    $0.append("\(request.head.target) for \(request.field("Host") ?? "nobody")")
                }
                return try OriginResponse(200, "text/plain", [UInt8]("the proxy".utf8))
            }
            let server = try LupineOrigin.Origin.start()
            server.route("GET", "/through") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", [UInt8]("the server".utf8))
            }
            let host = "flower.test:\(server.port)"
            let line = "--resolve \(host):127.0.0.1 http://\(host)/through"
            let direct = await shell.run(line)
            let bypassing = await shell.run("-x 127.0.0.1:\(proxy.port) --noproxy flower.test \(line)")
            let withoutProxy = await shell.run(
                ["-x", "", "-U", "me:pw"] + line.split(separator: " ").map(String.init))
            let proxyRequests = proxy.counts.requests
            let proxied = await shell.run("-x 127.0.0.1:\(proxy.port) \(line)")
            let serverRequests = server.counts.requests
            await server.shutdown()
            // For the command, any origin that accepts a target in absolute form is a proxy for http URLs.
            #expect(
                direct.output == "the server" && bypassing.output == "the server",
                "\(direct.errors)\(bypassing.errors)")
            #expect(withoutProxy.output == "the server", "\(withoutProxy.errors)")
            #expect(proxyRequests == 0 && serverRequests == 3)
            #expect(proxied.output == "the proxy", "\(proxied.errors)")
            let expected = "http://\(host)/through for \(host)"
            #expect(proxiedRequests.withLock { $0 } == [expected])
        }
    }

    @Test func severalURLsAreSavedAtOnce() async throws {
        try await withShell { shell, origin in
            let root = "http://127.0.0.1:\(origin.port)"
            let result = await shell.run("-O \(root)/range/1000 \(root)/range/2000 \(root)/range/3000")
            #expect(result.code == 0)
            for size in [1000, 2000, 3000] {
                let count = try shell.read("\(size)").count
                #expect(count == size)
            }
            let ends = result.errors.split(separator: "\n").filter { $0.hasSuffix("done") }
            #expect(ends.count == 3)
        }
    }

    @Test func theServersNameIsUsedButReplacesNoFile() async throws {
        try await withShell { shell, origin in
            origin.route("GET", "/named") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", [UInt8]("new".utf8))
                try response.add("Content-Disposition", "attachment; filename=\"../given.txt\"")
                return response
            }
            let result = await shell.run("-sOJ :\(origin.port)/named")
            #expect(result.code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: shell.folder)
            let name = try #require(names.first { $0.hasSuffix("given.txt") })
            let saved = try shell.read(name)
            #expect(saved == Data("new".utf8))
            try shell.write("mine", to: name)
            let again = await shell.run("-sOJ :\(origin.port)/named")
            #expect(again.code == ExitCode.write.rawValue)
            let unchanged = try shell.read(name)
            #expect(unchanged == Data("mine".utf8))
        }
    }

    @Test func inputLinesAreEchoedByAWebSocket() async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.input = Data("one\ntwo\n".utf8)
            let result = await shell.run("ws://127.0.0.1:\(origin.port)/websocket")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.output == "one\ntwo\n")
        }
    }

    @Test(
        "web sockets and events follow redirects with -L alone, and no more than --max-redirs",
        arguments: [
            "ws://@/redirect-to?url=%2Fwebsocket", "--sse http://@/redirect-to?url=%2Fevents%3Fcount%3D1",
        ],
        [
            ("", nil), ("-L", "one\n"), ("-L --max-redirs 0", "more than 0 redirects"),
            ("-L --max-redirs 1", "one\n"),
        ])
    func webSocketsAndEventStreamsAreRedirected(
        _ address: String, _ row: (options: String, text: String?)
    ) async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.input = Data("one\n".utf8)
            let url = address.replacingOccurrences(of: "@", with: "127.0.0.1:\(origin.port)")
            let result = await shell.run("\(row.options) \(url)")
            let follows = row.text == "one\n"
            #expect((result.code == 0) == follows && result.output.isEmpty == !follows, "\(result)")
            if let text = row.text, !follows { #expect(result.errors.contains(text), "\(result)") }
        }
    }
}
