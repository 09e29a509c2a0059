// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import Testing

@testable import LupineCommand

/// Tests that messages and reports about a transfer contain no query and no password, since others may read the logs that contain
/// them.
@Suite(.timeLimit(.minutes(10))) struct HostileSecretTests {
    /// Checks lines with URLs in which a secret follows `?`, and `@` stands for the origin with a user name and a password.
    @Test(arguments: [
        "-L --max-redirs 0 @/redirect/2?s3cr3t", "-L --max-redirs 1 @/redirect/2?s3cr3t",
        "--sse @/status/404?s3cr3t", "--sse @/status/503?s3cr3t", "-f @/status/404?s3cr3t",
        "-o part @/cut?s3cr3t", "@/cut?s3cr3t", "ftp://me:s3cr3t@h.test/?s3cr3t",
        "http://me:s3cr3t@h:x/?s3cr3t", "ws://me:s3cr3t@127.0.0.1:1/?s3cr3t",
        "-m 0.001 @/delay/5?s3cr3t", "--events -L @/away?s3cr3t", "--timing -L @/away?s3cr3t",
        "--timing=json -L @/away?s3cr3t", "-C 7 -o part @/get?s3cr3t",
    ])
    func messagesContainNoSecret(_ line: String) async throws {
        try await withShell { shell, origin in
            origin.script(
                "GET", "/cut",
                ScriptPlan([Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegun"), .close])]))
            origin.route("GET", "/away") { [port = origin.port] _ throws(Refusal) in
                var response = try OriginResponse(302, "text/plain", [])
                try response.add("Location", "http://you:s3cr3t@localhost:\(port)/get?s3cr3t#s3cr3t")
                return response
            }
            let root = "http://me:s3cr3t@localhost:\(origin.port)"
            let result = await shell.run(line.replacing("@/", with: root + "/"))
            #expect(!result.errors.isEmpty)
            #expect(!result.errors.contains("s3cr3t"), "\(result.errors)")
        }
    }

    /// Checks that a line without secrets is printed in full, so that it can be pasted.
    @Test func aLineWithoutSecretsIsPrintedInFull() async throws {
        try await withShell { shell, origin in
            origin.script(
                "GET", "/cut",
                ScriptPlan([Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegun"), .close])]))
            let result = await shell.run("-o part :\(origin.port)/cut")
            #expect(result.errors.contains("lupine -C - -o part :\(origin.port)/cut"), "\(result.errors)")
        }
    }

    /// Checks field names that services use for tokens.
    @Test(arguments: ["X-Token", "Private-Token", "x-vault-token", "X-Authorization", "Api-Key", "Cookie"])
    func tokensAreHidden(_ name: String) async throws {
        try await withShell { shell, origin in
            let line = await shell.run("--to-curl -H \(name):s3cr3t :\(origin.port)/get")
            #expect(line.output.contains(name) && !line.output.contains("s3cr3t"), "\(line.output)")
            guard name != "Cookie" else { return }
            let verbose = await shell.run("-v -s -o /dev/null -H \(name):s3cr3t :\(origin.port)/get")
            #expect(!verbose.errors.contains("s3cr3t"), "\(verbose.errors)")
        }
    }
}
