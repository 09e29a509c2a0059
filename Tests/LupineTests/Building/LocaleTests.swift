// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

/// `Accept-Language` of programs that were started with a given locale.
@Suite struct LocaleTests {
    @Test(
        "[E-2.3.3, U-9.1] a program requests the languages of its locale",
        arguments: [
            ("C", ["absent", "absent", "absent"]), ("C.UTF-8", ["absent", "absent", "absent"]),
            ("de_AT.UTF-8", ["de-AT;q=1.0, de;q=0.9", "de-AT, de;q=0.9", "de-AT, de;q=0.9"]),
        ])
    func asks(_ locale: String, _ expected: [String]) async throws {
        let origin = try Origin.start()
        let asked = Lock<[String: String]>([:])
        for name in ["session", "loading", "plain"] {
            origin.route("GET", "/" + name) { request throws(Refusal) in
                asked.withLock { $0[name] = request.field("Accept-Language") ?? "absent" }
                return try OriginResponse(200, "text/plain", Array("ok".utf8))
            }
        }
        let end = try? await Program.run(
            TransferProbe.path, ["languages", origin.url],
            variables: [
                "LC_ALL": locale, "LANG": "fr_FR.UTF-8", "LANGUAGE": "",
                // The probe exits while event loops of the process run: what they hold at that moment is not a leak.
                "ASAN_OPTIONS": "detect_leaks=0",
            ])
        await origin.shutdown()
        #expect(end == .exited(0))
        let found = asked.withLock { asked in ["session", "loading", "plain"].map { asked[$0] } }
        #expect(found == expected)
    }
}
