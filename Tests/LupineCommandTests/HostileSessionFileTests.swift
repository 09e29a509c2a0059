// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

@testable import LupineCommand

/// Tests that cookies and fields from session and cookie files are sent only to their origin, whatever the files contain.
struct HostileSessionFileTests {
    @Test func zonesOfDifferentCaseAreDifferentOrigins() throws {
        let origins = try ["lo", "LO"].map { zone in
            let url = try #require(URL(string: "http://[FE80::A%25\(zone)]/"))
            return try #require(SessionOrigin(url))
        }
        #expect(origins[0] != origins[1] && origins[0].folder != origins[1].folder)
        #expect(origins.allSatisfy { SessionOrigin(text: $0.text) == $0 && $0.host.hasPrefix("fe80::a") })
    }

    /// Returns the curl line for each URL with a session, without sending a request.
    private func curlLines(_ shell: Shell, _ session: String, _ urls: [String]) async -> [String] {
        let result = await shell.run(["--to-curl", "--show-secrets", "--session", session] + urls)
        #expect(result.code == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: ["me", "./me.json"])
    func aStoredAuthorizationStaysWithItsOrigin(_ session: String) async throws {
        try await withShell { shell, origin in
            let own = "http://localhost:\(origin.port)/headers"
            let kept = await shell.run(["-s", "--session", session, own, "Authorization:s3cr3t", "X-Own:1"])
            #expect(kept.code == 0, "\(kept.errors)")
            for url in [own, "HTTP://LOCALHOST:\(origin.port)/x", "ws://localhost:\(origin.port)/x"] {
                let lines = await curlLines(shell, session, [url])
                #expect(lines.first?.contains("s3cr3t") == true, "\(url): \(lines)")
            }
            for other in [
                "https://localhost:\(origin.port)/", "http://localhost:\(origin.port ^ 1)/",
                "http://localhost/",
                "https://localhost/", "http://127.0.0.1:\(origin.port)/", "http://[::1]:\(origin.port)/",
                "http://x.localhost:\(origin.port)/", "wss://localhost:\(origin.port)/",
                "http://localhost.:\(origin.port)/", "file://localhost/etc/hostname",
            ] {
                let lines = await curlLines(shell, session, [other])
                #expect(lines.first?.contains("s3cr3t") == false, "\(other): \(lines)")
                #expect(lines.first?.contains("X-Own") == false, "\(other): \(lines)")
            }
            let both = await curlLines(shell, session, [own, "http://localhost:1/", "http://h.test/"])
            #expect(both.map { $0.contains("s3cr3t") } == [true, false, false], "\(both)")
        }
    }

    @Test(arguments: ["me", "./me.json"])
    func storedCookiesStayWithTheirOrigin(_ session: String) async throws {
        try await withShell { shell, origin in
            let own = "http://localhost:\(origin.port)"
            _ = await shell.run(["-s", "--session", session, own + "/cookies/set/a/s3cr3t"])
            let lines = await curlLines(shell, session, [own, "http://localhost:1/", "https://localhost/"])
            #expect(lines.map { $0.contains("s3cr3t") } == [true, false, false], "\(lines)")
            // Another origin, visited in between, gets none of the cookies, and its visit removes none.
            let other = try LupineOrigin.Origin.start()
            let visited = await shell.run([
                "-s", "--session", session, "http://localhost:\(other.port)/headers", own + "/headers",
            ])
            await other.shutdown()
            #expect(visited.output.components(separatedBy: "a=s3cr3t").count == 2, "\(visited.output)")
            let after = await curlLines(shell, session, [own, "http://localhost:\(other.port)/"])
            #expect(after.map { $0.contains("s3cr3t") } == [true, false], "\(after)")
        }
    }

    @Test func aSessionFileContainsItsOrigin() async throws {
        try await withShell { shell, origin in
            _ = await shell.run("-s --session ./me.json http://localhost:\(origin.port)/headers X-Own:1")
            let text = String(decoding: try shell.read("me.json"), as: UTF8.self)
            #expect(text.contains("\"http://localhost:\(origin.port)\""), "\(text)")
            let mode =
                try FileManager.default.attributesOfItem(atPath: shell.folder + "/me.json")[.posixPermissions]
                as? NSNumber
            #expect(mode?.intValue == 0o600)
        }
    }

    /// Checks that a file to which other users may write is refused: they would decide what is sent in the user's name.
    @Test(arguments: ["me", "./me.json"], ["--session", "--session-read-only"])
    func aSessionFileThatOthersMayWriteIsRefused(_ session: String, _ option: String) async throws {
        try await withShell { shell, origin in
            let url = "http://localhost:\(origin.port)/headers"
            _ = await shell.run(["-s", "--session", session, url, "Authorization:s3cr3t"])
            let folder = ".local/share/lupine/sessions/http_localhost_\(origin.port)"
            let path = shell.folder + "/" + (session == "me" ? "\(folder)/me.json" : "me.json")
            func expectRefusal(_ attributes: [FileAttributeKey: Any], _ reason: String) async throws {
                try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
                let requestsBefore = origin.counts.requests
                let result = await shell.run(["-s", "-S", option, session, url])
                #expect(result.code != 0 && result.errors.contains(reason), "\(result)")
                #expect(origin.counts.requests == requestsBefore)
            }
            for mode in [0o666, 0o620, 0o602] {
                try await expectRefusal([.posixPermissions: mode], "chmod 600")
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let lines = await curlLines(shell, session, [url])
            #expect(lines.first?.contains("s3cr3t") == true, "\(lines)")
            // Only root can change a file's owner.
            if geteuid() == 0 { try await expectRefusal([.ownerAccountID: 65_534], "another user") }
        }
    }

    /// Checks that sessions with different names are different, whatever characters the names have.
    @Test(arguments: [("a@x", "a_x"), ("a!", "a?"), ("é", "e\u{301}é"), ("..", "__"), ("a%40x", "a@x")])
    func differentNamesAreDifferentSessions(_ first: String, _ second: String) async throws {
        try await withShell { shell, origin in
            let url = "http://localhost:\(origin.port)/headers"
            _ = await shell.run(["-s", "--session", first, url, "Authorization:s3cr3t"])
            let lines = await curlLines(shell, second, [url])
            #expect(lines.first?.contains("s3cr3t") == false, "\(lines)")
            let own = await curlLines(shell, first, [url])
            #expect(own.first?.contains("s3cr3t") == true, "\(own)")
        }
    }

    /// A session file of the old format, which has no origins.
    private static let oldFile = """
        {"cookies": [
          {"name": "h", "value": "cookie-h", "domain": "h.test", "path": "/", "secure": false, "httpOnly": false},
          {"name": "s", "value": "cookie-s", "domain": ".h.test", "path": "/", "secure": true, "httpOnly": true},
          {"name": "o", "value": "cookie-o", "domain": "other.test", "path": "/", "secure": true, "httpOnly": false}
        ], "headers": [{"name": "Authorization", "value": "s3cr3t"}, {"name": "X-Token", "value": "s3cr3t"},
          {"name": "accept", "value": "text/flower"}]}
        """

    /// Checks that of a file of the old format the fields that may be secrets are dropped, and the cookies go to their hosts.
    @Test(arguments: ["me", "./me.json"])
    func aFileOfTheOldFormatIsSplit(_ session: String) async throws {
        try await Shell.withTemporaryFolder { shell in
            let path = session == "me" ? ".local/share/lupine/sessions/h.test/me.json" : "me.json"
            try FileManager.default.createDirectory(
                atPath: shell.folder + "/.local/share/lupine/sessions/h.test",
                withIntermediateDirectories: true)
            try shell.write(Self.oldFile, to: path)
            let firstRun = await shell.run([
                "--to-curl", "--show-secrets", "--session", session, "https://h.test/",
            ])
            #expect(firstRun.errors.contains("Authorization, X-Token"), "\(firstRun.errors)")
            let line = firstRun.output
            #expect(!line.contains("s3cr3t"), "\(line)")
            #expect(line.contains("text/flower"), "\(line)")
            #expect(line.contains("cookie-h") && line.contains("cookie-s"), "\(line)")
            #expect(!line.contains("cookie-o"), "\(line)")
            let again = await curlLines(
                shell, session, ["https://h.test/", "https://h.test:8443/", "http://h.test/"])
            #expect(again.map { $0.contains("text/flower") } == [true, false, false], "\(again)")
            #expect(!again.contains { $0.contains("s3cr3t") }, "\(again)")
            #expect(again.map { $0.contains("cookie-h") } == [true, false, false], "\(again)")
            let other = await curlLines(shell, session, ["https://other.test/", "http://other.test/"])
            #expect(other.map { $0.contains("cookie-o") } == [true, false], "\(other)")
            #expect(!other.contains { $0.contains("s3cr3t") }, "\(other)")
        }
    }

    /// Checks that stored fields that may be secrets are not sent to the target of a redirect, but fields of the command line
    /// are.
    @Test func storedFieldsAreNotSentAfterARedirect() async throws {
        var recording = OriginConfiguration()
        recording.recordedBytes = 1 << 16
        let elsewhere = try LupineOrigin.Origin.start(configuration: recording)
        try await withShell { shell, origin in
            let start = "http://localhost:\(origin.port)"
            let first = await shell.run("--session me -H X-Internal:s3cr3t -H Accept:text/mine \(start)/get")
            #expect(first.code == 0)
            let target = "http://127.0.0.1:\(elsewhere.port)/get"
            let second = await shell.run(
                "--session me -L -H X-Given:given \(start)/redirect-to?url=\(target)")
            #expect(second.code == 0, "\(second.errors)")
        }
        let wire = (0..<elsewhere.counts.connectionsAccepted).flatMap { elsewhere.received(on: $0) }
        let text = String(decoding: wire, as: UTF8.self)
        #expect(text.contains("X-Given: given\r\n") && text.contains("Accept: text/mine\r\n"))
        #expect(!text.contains("s3cr3t"), "\(text)")
        await elsewhere.shutdown()
    }

    /// Checks that a file that this command did not write leads to an error message and not to a trap, and is not overwritten.
    @Test(arguments: [
        "", "{", "[]", "null", "1", "{\"origins\": 1}", "{\"origins\": [{}]}",
        String(repeating: "[", count: 100_000), String(repeating: "{\"origins\":", count: 20_000),
        "{\"origins\": [{\"origin\": \"nonsense\", \"cookies\": [], \"headers\": []}]}",
        "{\"cookies\": [], \"headers\": [{\"name\": 1}]}",
        "{\"cookies\": [{\"name\": \"a\", \"value\": \"b\", \"domain\": \"d\", \"path\": \"/\", \"expires\": 1e999, \"secure\": false, \"httpOnly\": false}], \"headers\": []}",
    ])
    func anInvalidSessionFileIsReportedAndUnchanged(_ text: String) async throws {
        try await withShell { shell, origin in
            try shell.write(text, to: "me.json")
            let result = await shell.run("-s -S --session ./me.json http://localhost:\(origin.port)/headers")
            #expect(result.code == ExitCode.read.rawValue, "\(result.errors)")
            #expect(result.errors.contains("me.json"), "\(result.errors)")
            #expect(result.output.isEmpty)
            let content = String(decoding: try shell.read("me.json"), as: UTF8.self)
            #expect(content == text)
        }
    }

    /// Checks that values that are valid JSON but no valid fields or dates neither split a request nor trap.
    @Test(arguments: [
        ("\"name\": \"X-A\\r\\nX-Evil\", \"value\": \"1\"", "1e300"),
        ("\"name\": \"X-A\", \"value\": \"1\\r\\nX-Evil: 1\"", "-1e300"),
        ("\"name\": \"\", \"value\": \"\"", "0"), ("\"name\": \"X A\", \"value\": \"\\u0000\"", "1e18"),
    ])
    func invalidValuesInAFileDoNotSplitARequest(_ field: String, _ expires: String) async throws {
        try await withShell { shell, origin in
            let root = "http://localhost:\(origin.port)"
            try shell.write(
                """
                {"origins": [{"origin": "\(root)", "headers": [{\(field)}], "cookies": [{"name": "a\\r\\n", \
                "value": "b\\r\\nX-Evil: 1", "domain": "localhost", "path": "/", "secure": false, "httpOnly": false, \
                "expires": \(expires)}, {"name": "c", "value": "d", "domain": "localhost", "path": "/", \
                "secure": false, "httpOnly": false, "expires": \(expires)}]}]}
                """, to: "me.json")
            let result = await shell.run("-s --session ./me.json -c jar \(root)/headers")
            #expect(!result.output.contains("X-Evil"), "\(result.output)")
        }
    }

    @Test(arguments: [
        "1e300", "inf", "nan", "-1e300", "1e18", "9223372036854775807", "9223372036854775808", "-1",
    ])
    func noExpiryOfACookieFileTraps(_ expiry: String) async throws {
        try await withShell { shell, origin in
            try shell.write("localhost\tFALSE\t/\tFALSE\t\(expiry)\ta\tb\n", to: "jar")
            let result = await shell.run("-s -b jar -c written http://localhost:\(origin.port)/headers")
            #expect(result.code == 0, "\(result.errors)")
            let written = String(decoding: try shell.read("written"), as: UTF8.self)
            #expect(written.hasPrefix("# Netscape HTTP Cookie File\n"))
        }
    }

    /// Checks that a server's cookie is written as one line, and read back as a cookie for this server.
    @Test(arguments: ["\u{2028}", "\u{2029}", "\u{85}", "\t", "\u{B}"])
    func aCookieCannotContainALineForAnotherHost(_ end: String) async throws {
        try await withShell { shell, origin in
            let evil = "x\(end)bank.test\tFALSE\t/\tFALSE\t4102444800\tsession\tfixed"
            origin.script(
                "GET", "/evil",
                ScriptPlan([
                    Script([
                        .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=\(evil)\r\n\r\n"),
                        .close,
                    ])
                ]))
            _ = await shell.run("-s -c jar http://localhost:\(origin.port)/evil")
            let jar = (try? shell.read("jar")) ?? Data()
            let cookies = NetscapeCookieFile.cookies(String(decoding: jar, as: UTF8.self))
            #expect(cookies.allSatisfy { $0.domain == "localhost" }, "\(cookies)")
            let sent = await shell.run("--to-curl --show-secrets -b jar http://bank.test/")
            #expect(!sent.output.contains("fixed"), "\(sent.output)")
        }
    }

    @Test("a line that is longer than a cookie is none")
    func tooLongCookiesAreSkipped() {
        let long = String(repeating: "x", count: 4_097)
        for (domain, path, name, value) in [
            (String(long.prefix(256)), "/", "n", "v"), ("h.test", "/" + long.prefix(1_024), "n", "v"),
            ("h.test", "/", "n", String(long.prefix(4_096))),
            ("h.test", "/", String(long.prefix(4_096)), "v"),
        ] {
            let row = { (domain: String, path: String, name: String, value: String) in
                "\(domain)\tFALSE\t\(path)\tFALSE\t0\t\(name)\t\(value)\n"
            }
            #expect(NetscapeCookieFile.cookies(row(domain, path, name, value)).isEmpty)
            let shorter = row(
                String(domain.prefix(255)), String(path.prefix(1_024)), String(name.prefix(4_095)),
                String(value.prefix(4_095)))
            #expect(NetscapeCookieFile.cookies(shorter).count == 1)
        }
        let session = UserSession(
            cookies: [
                .init(name: "n", value: long, domain: "h.test", path: "/", secure: false, httpOnly: false)
            ],
            headers: [])
        #expect(session.storedCookies.isEmpty)
    }

    @Test(
        "a cookie file is written as it was read, whatever its domains begin with",
        arguments: [
            "host.test", ".host.test", "..host.test", ".#host.test", ".\u{301}host.test", "\u{301}host.test",
            ".\u{301}",
        ], ["TRUE", "FALSE"])
    func domainsAreWrittenAsTheyWereRead(_ domain: String, _ isWide: String) {
        let cookies = NetscapeCookieFile.cookies("\(domain)\t\(isWide)\t/\tFALSE\t0\tname\tvalue\n")
        let written = NetscapeCookieFile.text(cookies)
        let again = NetscapeCookieFile.cookies(written)
        #expect(again == cookies)
        #expect(NetscapeCookieFile.text(again) == written)
    }
}
