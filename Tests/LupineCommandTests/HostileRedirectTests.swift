// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests of the fields that the command sends to the target of a redirect with `-L`. The library decides by its rules, the
/// command passes its options to it.
@Suite(.timeLimit(.minutes(10))) struct HostileRedirectTests {
    private static let options =
        "-k -L -u user:s3cr3t -H X-Api-Key:s3cr3t -H X-Mine:mine -H Origin:https://mine.test -b id=s3cr3t "
        + "-e https://mine.test/s3cr3t -A mine/1"

    /// Runs the command against an origin that redirects to another one. Returns the exit code and the errors of the command, and
    /// the text that the other origin has received.
    private func receivedAfterRedirect(
        isSecure: Bool, _ options: String = options
    ) async throws -> (code: Int32, errors: String, text: String) {
        var recording = OriginConfiguration()
        recording.recordedBytes = 1 << 16
        let elsewhere = try LupineOrigin.Origin.start(configuration: recording)
        var serving = OriginConfiguration()
        if isSecure {
            serving.tls = TLSServerConfiguration(identities: [
                TLSServerIdentity(try EphemeralIdentity.make())
            ])
        }
        var result: (Int32, String, String) = (0, "", "")
        try await withShell(serving) { shell, origin in
            let scheme = isSecure ? "https" : "http"
            let target = "http://127.0.0.1:\(elsewhere.port)/get"
            let ending = await shell.run(
                "\(options) \(scheme)://localhost:\(origin.port)/redirect-to?url=\(target)")
            let wire = (0..<elsewhere.counts.connectionsAccepted).flatMap { elsewhere.received(on: $0) }
            result = (ending.code, ending.errors, String(decoding: wire, as: UTF8.self))
        }
        await elsewhere.shutdown()
        return result
    }

    @Test("[U-10.5] to another origin")
    func fieldsAfterARedirectToAnotherOrigin() async throws {
        let (code, _, text) = try await receivedAfterRedirect(isSecure: false)
        #expect(code == 0)
        #expect(!text.contains("s3cr3t") && !text.lowercased().contains("authorization"))
        for line in ["X-Mine: mine", "Origin: null", "Referer: https://mine.test/", "User-Agent: mine/1"] {
            #expect(text.contains("\(line)\r\n"), "\(line)")
        }
    }

    @Test("[U-10.5] from https to http")
    func fieldsAfterARedirectFromHTTPSToHTTP() async throws {
        let (code, _, text) = try await receivedAfterRedirect(isSecure: true)
        #expect(code == 0)
        for part in ["s3cr3t", "mine.test", "X-Mine", "Origin", "Referer", "Authorization"] {
            #expect(!text.contains(part), "\(part)")
        }
        #expect(text.contains("User-Agent: mine/1\r\n"))
    }

    @Test("[U-10.5] --no-downgrade follows no redirect from https to http")
    func noDowngradeRefusesTheRedirect() async throws {
        let (code, errors, text) = try await receivedAfterRedirect(isSecure: true, "-k -L --no-downgrade")
        #expect(code == ExitCode.redirects.rawValue && text.isEmpty)
        #expect(errors.contains("127.0.0.1") && errors.contains("--no-downgrade"))
        let plain = try await receivedAfterRedirect(isSecure: false, "-L --no-downgrade")
        #expect(plain.code == 0 && !plain.text.isEmpty)
    }
}
