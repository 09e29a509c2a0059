// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTransport
import Testing

@testable import LupineCommand

/// A line, what it prints and how it ends. `@` stands for the origin's port; the date is left out.
struct GoldenCase: CustomTestStringConvertible, Sendable {
    let line: String
    var code: ExitCode = .success
    /// What the standard output has to be, or, with `isPart`, to contain.
    let output: String
    var isPart = false
    /// What the standard error has to contain.
    var errors = ""
    var input: String?
    var isTerminal = false

    init(
        _ line: String, _ output: String = "", code: ExitCode = .success, part: Bool = false,
        errors: String = "",
        input: String? = nil, terminal: Bool = false
    ) {
        self.line = line
        self.output = output
        self.code = code
        isPart = part
        self.errors = errors
        self.input = input
        isTerminal = terminal
    }

    var testDescription: String { line }

    private static func echo(_ line: String, _ part: String, input: String? = nil) -> GoldenCase {
        GoldenCase(line, part, part: true, input: input)
    }

    static let sending: [GoldenCase] = [
        echo("-X PUT @/anything", "\"method\": \"PUT\""), echo("DELETE @/anything", "\"method\": \"DELETE\""),
        echo("@/anything -d a=b -d c=d", "\"a\": \"b\",\n    \"c\": \"d\""),
        echo("@/anything -d a", "\"method\": \"POST\""),
        echo("@/anything --data-raw @f", "\"@f\": \"\""),
        echo("@/anything --data-binary @lines", "\"one\\ntwo\\n\": \"\""),
        echo("@/anything -d @lines", "onetwo"), echo("@/anything --data-urlencode a=b&c", "\"a\": \"b&c\""),
        echo("@/anything --data-urlencode a@lines", "\"a\": \"one\\ntwo\\n\""),
        echo("@/anything -d @-", "\"from\": \"stdin\"", input: "from=stdin"),
        echo("@/anything -F a=b -F f=@lines", "\"f\": \"one\\ntwo\\n\""),
        echo("@/anything -F a=<lines", "\"a\": \"one\\ntwo\\n\""),
        echo("@/anything a=b n:=3", "\"json\": {\"a\": \"b\", \"n\": 3}"),
        echo("@/anything --json -d {}", "\"Content-Type\": \"application/json\""),
        echo("@/anything a=b a=c", "\"json\": {\"a\": \"c\"}"),
        echo("@/anything t=@lines", "\"t\": \"one\\ntwo\\n\""),
        echo("@/anything j:=@object", "\"j\": {\"x\":1}"),
        echo("--form @/anything a=b%20c", "\"a\": \"b%20c\""),
        echo("--form @/anything f@lines", "multipart/form-data"),
        echo("--multipart @/anything a=b", "multipart/form-data"),
        echo("@/anything @lines", "one\\ntwo\\n"),
        echo("--raw {\"a\":1} @/anything", "\"Content-Type\": \"application/json\""),
        echo("--raw text @/anything", "\"Content-Type\": \"text/plain; charset=utf-8\""),
        echo("@/anything", "\"json\": {\"a\":1}", input: "{\"a\":1}"),
        echo("@/anything", "\"method\": \"GET\"", input: ""),
        echo("--ignore-stdin @/anything", "\"method\": \"GET\"", input: "text"),
        echo("-T lines @/anything", "\"method\": \"PUT\""), echo("-T lines @/anything/", "/anything/lines"),
        echo("-G -d a=b @/anything", "\"a\": \"b\""), echo("@/anything q==1", "\"q\": \"1\""),
        echo("-H X-One:1 @/anything", "\"X-One\": \"1\""), echo("@/anything X-Two:2", "\"X-Two\": \"2\""),
        echo("-H X-None; @/anything", "\"X-None\": \"\""),
        echo("-A me/1 @/anything", "\"User-Agent\": \"me/1\""),
        echo("-e http://r.test/ @/anything", "\"Referer\": \"http://r.test/\""),
        echo("--compressed @/anything", "gzip, deflate, br"),
        echo("-u me:pw @/basic-auth/me/pw", "\"authenticated\": true"),
        echo("--digest -u me:pw @/digest-auth/auth/me/pw", "\"authenticated\": true"),
        echo("-n @/basic-auth/netuser/netpw", "\"authenticated\": true"),
        echo("-b a=b @/cookies", "\"a\": \"b\""),
        echo("-L @/redirect/2", "\"url\""), echo("--max-redirs 2 -L @/redirect/2", "\"url\""),
        echo("--http1.1 @/anything", "\"method\""),
        echo("--interface 127.0.0.1 @/anything", "\"method\""),
        echo("--limit-rate 1G @/anything", "\"method\""),
        echo("--connect-timeout 5 -m 20 @/anything", "\"method\""),
        echo("--noproxy * @/anything", "\"method\""),
        echo("--tlsv1.2 --tlsv1.3 @/anything", "\"method\""),
    ]

    static let printing: [GoldenCase] = [
        GoldenCase("@/bytes/4?seed=1 -o /dev/null"),
        GoldenCase("@/robots.txt", "User-agent: *\nDisallow: /deny\n"),
        GoldenCase(
            "-i @/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /deny\n"
        ),
        GoldenCase(
            "-I @/robots.txt", "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\n"),
        GoldenCase(
            "--headers @/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\n"),
        GoldenCase("--body @/robots.txt", "User-agent: *\nDisallow: /deny\n"),
        GoldenCase("--print m @/robots.txt", "total ", part: true),
        GoldenCase(
            "--print HB -d a=b @/post",
            "POST /post HTTP/1.1\nHost: localhost:@\nAccept: */*\nContent-Type: application/x-www-form-urlencoded\nUser-Agent: lupine/0.1.0\nAccept-Encoding: gzip, deflate, br\nContent-Length: 3\n\na=b\n\n"
        ),
        GoldenCase(
            "--color never @/robots.txt",
            "HTTP/1.1 200 OK\nContent-Length: 30\nContent-Type: text/plain\n\nUser-agent: *\nDisallow: /deny\n",
            terminal: true),
        GoldenCase("@/cookies --body --color never", "{\n    \"cookies\": {}\n}\n", terminal: true),
        GoldenCase("@/cookies --body", "{\n    \u{1B}[36m\"cookies\"\u{1B}[0m: {}\n}\n", terminal: true),
        GoldenCase(
            "@/cookies --body --pretty none --color never", "{\n  \"cookies\": {}\n}\n", terminal: true),
        GoldenCase("@/cookies --pretty format", "{\n    \"cookies\": {}\n}\n"),
        GoldenCase("@/cookies --pretty colors --color always", "{\u{1B}[36m\"cookies\"\u{1B}[0m: {}}\n"),
        GoldenCase("@/stream/2 -N --pretty all --color never", "\"id\": 0}\n{\"args\": {}", part: true),
        GoldenCase(
            "--body @/image/png", "that are no text: save them with -o FILE", part: true, terminal: true),
        GoldenCase(
            "-v @/robots.txt", "User-agent: *\nDisallow: /deny\n",
            errors: "> GET /robots.txt HTTP/1.1\n> Host: localhost:"),
        GoldenCase(
            "-v -H Authorization:secret @/robots.txt", "User-agent", part: true,
            errors: "> Authorization: (hidden)"),
        GoldenCase("-s @/status/404"), GoldenCase("-sf @/status/404", code: .clientError),
        GoldenCase("-sSf @/status/404", code: .clientError, errors: "404 Not Found"),
        GoldenCase("-f @/status/503", code: .serverError, errors: "503 Service Unavailable"),
        GoldenCase("--check-status @/robots.txt", "User-agent", part: true),
        GoldenCase("@/status/302", code: .success),
        GoldenCase(
            "-w %{http_code}:%{size_download}:%{num_redirects}\\n -o /dev/null -s @/robots.txt", "200:30:0\n"),
        GoldenCase(
            "-w %header{content-type}|%%|%{unknown}|%{method} -o /dev/null -s @/robots.txt",
            "text/plain|%||GET"),
        GoldenCase("--raw-encoding @/get", "\"headers\"", part: true),
        GoldenCase(
            "-D - @/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /deny\n"
        ),
        GoldenCase("--timing @/robots.txt", "User-agent", part: true, errors: "200 GET http://localhost:"),
        GoldenCase("--timing=json @/robots.txt", "User-agent", part: true, errors: "{\"total\": "),
        GoldenCase(
            "--events -L @/redirect/1", "\"url\"", part: true, errors: "redirect 302 to GET http://localhost:"
        ),
        GoldenCase(
            "--certs @/robots.txt", "User-agent", part: true, errors: "No server presented a certificate"),
        GoldenCase("--sse @/events?count=2", "{\"id\": 1}\n{\"id\": 2}\n"),
        GoldenCase("--sse @/status/404", code: .clientError, errors: "answered 404"),
        GoldenCase("--no-progress-meter -o f @/robots.txt"),
        GoldenCase("-o f @/robots.txt", errors: "f: 30 B (100%)"),
        GoldenCase("--max-redirs 1 -L @/redirect/3", code: .redirects, errors: "more than 1 redirects"),
        GoldenCase("-m 0.2 @/delay/5", code: .timeout, errors: "--max-time"),
        GoldenCase("--unix-socket /nowhere/s @/get", code: .connect, errors: "Cannot load"),
        GoldenCase("-x 127.0.0.1:1 @/get", code: .connect, errors: "Cannot load"),
        GoldenCase("-b missing.jar @/get", code: .read, errors: "missing.jar"),
        GoldenCase("-T missing @/put", code: .read, errors: "missing"),
        GoldenCase("--cacert missing https://localhost:1/", code: .untrusted, errors: "--cacert missing"),
        GoldenCase("--cert missing https://localhost:1/", code: .read, errors: "missing"),
        GoldenCase("--pin nonsense https://localhost:1/", code: .usage, errors: "--pin needs"),
        GoldenCase("-o nowhere/f @/get", code: .write, errors: "nowhere/f"),
        GoldenCase("-k https://localhost:@/", code: .tls, errors: "http://"),
        GoldenCase("@/x", code: .usage, errors: "-X POST", input: "body").with("GET"),
    ]

    private func with(_ method: String) -> GoldenCase {
        GoldenCase(
            "\(method) \(line)", output, code: code, part: isPart, errors: errors, input: input,
            terminal: isTerminal)
    }
}

/// The command against an origin in this process.
struct FetchTests {
    private func check(_ row: GoldenCase) async throws {
        try await withShell { shell, origin in
            try shell.write("one\ntwo\n", to: "lines")
            try shell.write("{\"x\":1}", to: "object")
            try shell.write("machine localhost login netuser password netpw\n", to: ".netrc")
            var shell = shell
            shell.input = row.input.map { Data($0.utf8) }
            shell.isTerminal = row.isTerminal
            let words = row.line.split(separator: " ").map { word in
                word.hasPrefix("@/")
                    ? ":\(origin.port)\(word.dropFirst())" : word.replacing(":@/", with: ":\(origin.port)/")
            }
            let result = await shell.run(words.map(String.init))
            #expect(result.code == row.code.rawValue, "\(result.errors)")
            let output = Self.normal(result.output, origin)
            if row.isPart {
                #expect(output.contains(row.output), "\(output)")
            } else {
                #expect(output == row.output)
            }
            #expect(row.errors.isEmpty || result.errors.contains(row.errors), "\(result.errors)")
        }
    }

    /// The output without what changes from run to run.
    private static func normal(_ text: String, _ origin: LupineOrigin.Origin) -> String {
        var text = text.replacing("localhost:\(origin.port)", with: "localhost:@")
        for end in ["\r\n", "\n"] {
            while let start = text.range(of: "Date: "),
                let stop = text.range(of: end, range: start.upperBound..<text.endIndex)
            {
                text.removeSubrange(start.lowerBound..<stop.upperBound)
            }
        }
        text = text.replacing(
            "\u{1B}[2mHTTP/1.1\u{1B}[0m \u{1B}[1;32m200 OK\u{1B}[0m", with: "HTTP/1.1 200 OK")
        return text.replacing("\u{1B}[36mContent-Length\u{1B}[0m", with: "Content-Length")
            .replacing("\u{1B}[36mContent-Type\u{1B}[0m", with: "Content-Type")
            .replacing("\u{1B}[36mDate\u{1B}[0m: ", with: "Date: ")
    }

    @Test(arguments: GoldenCase.sending)
    func whatIsSent(_ row: GoldenCase) async throws { try await check(row) }

    @Test(arguments: GoldenCase.printing)
    func whatIsPrinted(_ row: GoldenCase) async throws { try await check(row) }

    @Test func everySwitchIsRun() throws {
        var used: Set<OptionName> = [.help, .version]
        for row in GoldenCase.sending + GoldenCase.printing {
            for word in row.line.split(separator: " ") where word.hasPrefix("-") && word != "-" {
                if word.hasPrefix("--") {
                    let name = word.dropFirst(2).prefix { $0 != "=" }
                    if let option = OptionTable.option(long: name) { used.insert(option.name) }
                } else {
                    for letter in word.dropFirst() {
                        if let option = OptionTable.option(short: letter) { used.insert(option.name) }
                    }
                }
            }
        }
        // These have tests of their own below.
        used.formUnion([
            .cookieJar, .session, .proxy, .resolve, .unixSocket, .retry, .authorities, .certificate, .key,
            .password, .pin,
            .insecure, .remoteName, .remoteHeaderName, .continueAt, .certificates, .toCurl, .showSecrets,
        ])
        #expect(Set(OptionName.allCases).subtracting(used).isEmpty)
    }

    @Test func bodiesInAPipeAreWhatCame() async throws {
        try await withShell { shell, origin in
            let all = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            origin.route("GET", "/blob") { _ throws(Refusal) in
                try OriginResponse(200, "application/octet-stream", [UInt8](all))
            }
            let result = await shell.run(":\(origin.port)/blob")
            #expect(result.bytes == all)
            #expect(result.errors.isEmpty)
        }
    }

    @Test func aDefaultFieldCanBeTakenAway() async throws {
        try await withShell { shell, origin in
            let result = await shell.run(":\(origin.port)/headers User-Agent: Accept:")
            #expect(!result.output.contains("User-Agent") && !result.output.contains("\"Accept\""))
            #expect(!result.output.contains("Accept-Language"))
        }
    }

    @Test(arguments: ["200", "12000000"])
    func aFileIsSentAgainWhereARedirectAsksForIt(_ size: String) async throws {
        try await withShell { shell, origin in
            let count = try #require(Int(size))
            try Data(count: count).write(to: URL(fileURLWithPath: shell.folder + "/blob"))
            let url = ":\(origin.port)/redirect-to?url=/hash&status_code=307"
            let result = await shell.run(["-sS", "-L", "-T", "blob", url])
            #expect(result.output.contains("\"bytes\": \(count),"), "\(result.errors)")
        }
    }

    @Test func whatIsNotHTTPIsPrintedToo() async throws {
        try await Shell.use { shell in
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

    @Test func sessionsKeepCookiesAndFieldsForTheirOwnerOnly() async throws {
        try await withShell { shell, origin in
            _ = await shell.run("--session me :\(origin.port)/cookies/set/a/b X-Token:t")
            let path = shell.folder + "/.local/share/lupine/sessions/localhost/me.json"
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let result = await shell.run("--session me :\(origin.port)/headers")
            #expect(
                result.output.contains("\"X-Token\": \"t\"") && result.output.contains("\"Cookie\": \"a=b\""))
            let other = await shell.run("--session other :\(origin.port)/headers")
            #expect(!other.output.contains("X-Token"))
        }
    }

    @Test func curlLinesHideSecretsUnlessAsked() async throws {
        try await Shell.use { shell in
            let line = "--to-curl -u me:secret1 -H X-Api-Key:secret2 -b a=secret3 POST h.test/x a=b"
            let hidden = await shell.run(line)
            #expect(!hidden.output.contains("secret"))
            #expect(hidden.output.contains("-u me:HIDDEN"))
            let shown = await shell.run(line + " --show-secrets")
            for secret in ["secret1", "secret2", "secret3"] { #expect(shown.output.contains(secret)) }
            #expect(shown.output.contains("--data-binary '{\"a\": \"b\"}'"))
        }
    }

    @Test func retriesComeBackUntilItWorks() async throws {
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

    @Test func aProxyIsAsked() async throws {
        try await withShell { shell, origin in
            let seen = Lock("")
            origin.route("GET", "/through") { request throws(Refusal) in
                seen.withLock { $0 = request.field("Host") ?? "" }
                return try OriginResponse(200, "text/plain", [UInt8]("proxied".utf8))
            }
            // A server that takes absolute targets is proxy enough for plain HTTP.
            let result = await shell.run("-x http://127.0.0.1:\(origin.port) http://flower.test/through")
            #expect(seen.withLock { $0 } == "flower.test" || result.code == 0)
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

    @Test func theServersNameIsTakenButNotOverAFile() async throws {
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
            let kept1 = try shell.read(name)
            #expect(kept1 == Data("new".utf8))
            try shell.write("mine", to: name)
            let again = await shell.run("-sOJ :\(origin.port)/named")
            #expect(again.code == ExitCode.write.rawValue)
            let kept2 = try shell.read(name)
            #expect(kept2 == Data("mine".utf8))
        }
    }

    @Test func linesOfInputGoOverAWebSocketAndComeBack() async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.input = Data("one\ntwo\n".utf8)
            let result = await shell.run("ws://127.0.0.1:\(origin.port)/websocket")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.output == "one\ntwo\n")
        }
    }
}
