// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests of the cookies that `-b`, `-c` and `--session` save and send: a cookie of an untrusted server or of the command line is
/// not saved.
@Suite(.timeLimit(.minutes(10))) struct HostileCookieMemoryTests {
    /// Calls `body` with a shell and the root URL of an origin over TLS that sets two cookies at `/evil`.
    private func withSecureShell(_ body: (Shell, String) async throws -> Void) async throws {
        let identity = try EphemeralIdentity.make()
        var configuration = OriginConfiguration()
        configuration.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        try await withShell(configuration) { shell, origin in
            let lines = Data(identity.certificate.der).base64EncodedString(options: .lineLength64Characters)
            try shell.write(
                "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n", to: "root.pem")
            origin.route("GET", "/evil") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", [])
                try response.add("Set-Cookie", "__Host-sid=ATTACKER; Secure; Path=/")
                try response.add("Set-Cookie", "plain=ATTACKER; Max-Age=1000")
                return response
            }
            try await body(shell, "https://localhost:\(origin.port)")
        }
    }

    /// The line of a cookie file.
    private static let ownCookie = "localhost\tFALSE\t/\tTRUE\t4102444800\tplain\tmine\n"

    @Test(arguments: ["-k", "-k --certs", "-k -v"], ["-c jar -b jar", "--session ./me.json"])
    func cookiesOfAnUntrustedServerAreNotSaved(_ options: String, _ cookieOptions: String) async throws {
        try await withSecureShell { shell, root in
            try shell.write(Self.ownCookie, to: "jar")
            let result = await shell.run("\(options) \(cookieOptions) \(root)/evil")
            #expect(result.code == 0, "\(result.errors)")
            #expect(
                result.errors.components(separatedBy: "nobody has checked").count == 2, "\(result.errors)")
            let file = cookieOptions.contains("jar") ? "jar" : "me.json"
            let kept = String(decoding: try shell.read(file), as: UTF8.self)
            #expect(!kept.contains("ATTACKER"), "\(kept)")
            #expect(file != "jar" || kept.contains("\tplain\tmine"), "\(kept)")
            let sent = await shell.run("--cacert root.pem \(cookieOptions) \(root)/cookies")
            #expect(sent.code == 0 && !sent.output.contains("ATTACKER"), "\(sent.output)\(sent.errors)")
        }
    }

    /// Checks that cookies of an untrusted server are sent within the same run, and that without such cookies there is no
    /// warning.
    @Test func cookiesOfAnUntrustedServerAreUsedWithinTheRun() async throws {
        try await withSecureShell { shell, root in
            let used = await shell.run("-k -c jar -L \(root)/cookies/set/a/b")
            #expect(used.output.contains("\"a\": \"b\""), "\(used.output)\(used.errors)")
            let silent = await shell.run("-s -k -c jar \(root)/evil")
            #expect(silent.errors.isEmpty, "\(silent.errors)")
            let none = await shell.run("-k -c jar \(root)/get")
            #expect(none.errors.isEmpty, "\(none.errors)")
        }
    }

    @Test func cookiesOfATrustedServerAreSaved() async throws {
        try await withSecureShell { shell, root in
            let result = await shell.run("--cacert root.pem --certs -c jar \(root)/evil")
            #expect(result.code == 0, "\(result.errors)")
            let kept = String(decoding: try shell.read("jar"), as: UTF8.self)
            #expect(kept.contains("__Host-sid\tATTACKER") && kept.contains("plain\tATTACKER"), "\(kept)")
        }
    }

    /// Checks that without TLS `-k` changes nothing.
    @Test func insecureHasNoEffectWithoutTLS() async throws {
        try await withShell { shell, origin in
            let result = await shell.run("-k -c jar :\(origin.port)/cookies/set/a/b")
            #expect(result.errors.isEmpty, "\(result.errors)")
            let kept = String(decoding: try shell.read("jar"), as: UTF8.self)
            #expect(kept.contains("\ta\tb\n"), "\(kept)")
        }
    }

    // MARK: cookies of the command line

    @Test(arguments: ["-c jar", "-b jar -c jar", "--session ./jar"])
    func commandLineCookiesAreNotSaved(_ cookieOptions: String) async throws {
        try await withShell { shell, origin in
            if cookieOptions.contains("-b") { try shell.write("", to: "jar") }
            let result = await shell.run("-b a=s3cr3t \(cookieOptions) :\(origin.port)/cookies")
            #expect(result.output.contains("\"a\": \"s3cr3t\""), "\(result.output)\(result.errors)")
            let kept = String(decoding: try shell.read("jar"), as: UTF8.self)
            #expect(!kept.contains("s3cr3t"), "\(kept)")
        }
    }

    /// Checks that a cookie jar that is a device or a pipe is written to, not replaced.
    @Test func aJarThatIsADeviceOrPipeIsWrittenTo() async throws {
        try await withShell { shell, origin in
            let manager = FileManager.default
            let link = shell.folder + "/null"
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
            let first = await shell.run("-c null :\(origin.port)/cookies/set/a/new")
            #expect(first.code == 0, "\(first.errors)")
            #expect(try manager.destinationOfSymbolicLink(atPath: link) == "/dev/null")

            let pipe = shell.folder + "/pipe"
            #expect(try await Program.run("mkfifo", [pipe], variables: [:]) == .exited(0))
            let withoutReader = await shell.run("-c pipe :\(origin.port)/cookies/set/a/new")
            #expect(withoutReader.code == ExitCode.write.rawValue, "\(withoutReader.errors)")
            let reader = try #require(FileHandle(forUpdatingAtPath: pipe))
            let second = await shell.run("-c pipe :\(origin.port)/cookies/set/a/new")
            #expect(second.code == 0, "\(second.errors)")
            #expect(String(decoding: reader.availableData, as: UTF8.self).contains("\ta\tnew\n"))
            try reader.close()
        }
    }

    /// Checks that the saved cookie of the same name stays as it is, unless the server changes it.
    @Test(arguments: [("/cookies", "old"), ("/cookies/set/a/new", "new"), ("/cookies/delete?a=", nil)])
    func commandLineCookiesTakePrecedenceOverStoredOnes(_ path: String, _ value: String?) async throws {
        var recording = OriginConfiguration()
        recording.recordedBytes = 1 << 16
        try await withShell(recording) { shell, origin in
            try shell.write("localhost\tFALSE\t/\tFALSE\t4102444800\ta\told\n", to: "jar")
            let result = await shell.run("-b jar -b a=s3cr3t -c jar :\(origin.port)\(path)")
            #expect(result.code == 0, "\(result.errors)")
            let wire = String(decoding: origin.received(on: 0), as: UTF8.self)
            #expect(wire.contains("Cookie: a=s3cr3t\r\n"), "\(wire)")
            let kept = String(decoding: try shell.read("jar"), as: UTF8.self)
            #expect(kept.contains("\ta\t") == (value != nil), "\(kept)")
            if let value { #expect(kept.contains("\ta\t\(value)\n"), "\(kept)") }
        }
    }

    /// Checks a redirect to another port, and one from https to http on the same host.
    @Test(arguments: [false, true])
    func commandLineCookiesStayWithTheirOrigin(_ isSecure: Bool) async throws {
        var recording = OriginConfiguration()
        recording.recordedBytes = 1 << 16
        let elsewhere = try LupineOrigin.Origin.start(configuration: recording)
        let target = "http://localhost:\(elsewhere.port)/cookies"
        let follow = { (shell: Shell, root: String) in
            let result = await shell.run(
                "-k -L -b a=s3cr3t -c jar \(root)/redirect-to?url=\(target)")
            #expect(result.code == 0 && !result.output.contains("s3cr3t"), "\(result.output)\(result.errors)")
        }
        if isSecure {
            try await withSecureShell { shell, root in await follow(shell, root) }
        } else {
            try await withShell { shell, origin in await follow(shell, "http://localhost:\(origin.port)") }
        }
        let wire = (0..<elsewhere.counts.connectionsAccepted).flatMap { elsewhere.received(on: $0) }
        #expect(!wire.isEmpty && !String(decoding: wire, as: UTF8.self).contains("s3cr3t"))
        await elsewhere.shutdown()
    }

    /// Checks that all URLs of the command line get its cookies, whatever their ports are.
    @Test func commandLineCookiesAreSentToAllURLs() async throws {
        let other = try LupineOrigin.Origin.start()
        try await withShell { shell, origin in
            let result = await shell.run(
                "-b a=given -c jar http://localhost:\(origin.port)/cookies http://localhost:\(other.port)/cookies"
            )
            #expect(result.output.components(separatedBy: "\"given\"").count == 3, "\(result.output)")
        }
        await other.shutdown()
    }
}
