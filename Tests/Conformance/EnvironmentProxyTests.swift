// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

/// The variables `http_proxy`, `all_proxy` and `no_proxy`, read by a client in a process with that environment.
@Suite struct EnvironmentProxyTests {
    struct Row: Sendable {
        let name: String
        /// The words SQUID, DANTE and ORIGIN stand for ports.
        let environment: [String: String]
        var url = "http://127.0.0.1:ORIGIN/blob/10"
        var expected = "200 10 via"
    }

    static let rows: [Row] = [
        Row(name: "nothing is set", environment: [:], expected: "200 10 straight"),
        Row(name: "http_proxy", environment: ["http_proxy": "http://127.0.0.1:SQUID"]),
        Row(name: "http_proxy without a scheme", environment: ["http_proxy": "127.0.0.1:SQUID/"]),
        Row(
            name: "HTTP_PROXY is not read", environment: ["HTTP_PROXY": "http://127.0.0.1:SQUID"],
            expected: "200 10 straight"),
        Row(name: "ALL_PROXY", environment: ["ALL_PROXY": "http://127.0.0.1:SQUID"]),
        Row(
            name: "an empty http_proxy is none, and all_proxy holds",
            environment: ["http_proxy": "", "all_proxy": "http://127.0.0.1:SQUID"]),
        Row(
            name: "https_proxy is not for http", environment: ["https_proxy": "http://127.0.0.1:SQUID"],
            expected: "200 10 straight"),
        Row(
            name: "all_proxy is a SOCKS proxy, which knows the name",
            environment: ["all_proxy": "socks5h://127.0.0.1:DANTE"],
            url: "http://\(DanteServer.privateName):ORIGIN/blob/10", expected: "200 10 straight"),
        exempt("*", true), exempt("127.0.0.1", true), exempt("127.0.0.0/8", true),
        exempt("example.org, 127.0.0.1", true), exempt("127.0.0.1:ORIGIN", true),
        exempt("127.0.0.1:1", false), exempt("localhost", false), exempt("10.0.0.0/8", false),
        exempt("", false),
        Row(
            name: "NO_PROXY",
            environment: ["http_proxy": "http://127.0.0.1:SQUID", "NO_PROXY": "127.0.0.1"],
            expected: "200 10 straight"),
        Row(
            name: "no_proxy goes before NO_PROXY",
            environment: [
                "http_proxy": "http://127.0.0.1:SQUID", "no_proxy": "example.org", "NO_PROXY": "127.0.0.1",
            ]),
        Row(
            name: "a name under the entry",
            environment: ["http_proxy": "http://127.0.0.1:1", "no_proxy": "localhost"],
            url: "http://localhost:ORIGIN/blob/10", expected: "200 10 straight"),
        Row(
            name: "a proxy of another kind", environment: ["http_proxy": "ftp://127.0.0.1:SQUID"],
            expected:
                "cannot use this proxy: the scheme \"ftp\" is none of a proxy: http, https and socks5 are"),
    ]

    private static func exempt(_ list: String, _ isExempt: Bool) -> Row {
        Row(
            name: "no_proxy=\(list)",
            environment: ["http_proxy": "http://127.0.0.1:SQUID", "no_proxy": list],
            expected: isExempt ? "200 10 straight" : "200 10 via")
    }

    @Test(.timeLimit(.minutes(10))) func theEnvironmentDecides() async throws {
        let origin = try LupineOrigin.Origin.start()
        Blob.serve(on: origin)
        try await ServerProcess.with(SquidServer()) { squid in
            try await ServerProcess.with(DanteServer()) { dante in
                let ports = [
                    ("SQUID", squid.place.port), ("DANTE", dante.place.port), ("ORIGIN", origin.port),
                ]
                func filled(_ text: String) -> String {
                    ports.reduce(text) { $0.replacingOccurrences(of: $1.0, with: String($1.1)) }
                }
                for row in Self.rows {
                    let said = try await fetch(
                        filled(row.url), row.environment.mapValues(filled),
                        into: squid.place.folder + "/fetched")
                    try #require(said == row.expected + "\n", "\(row.name)")
                }
            }
        }
        await origin.shutdown()
    }

    private func fetch(_ url: String, _ environment: [String: String], into file: String) async throws
        -> String
    {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let end = try await Program.run(
            "sh",
            ["-c", "output=$1; shift; exec env -i \"$@\" >\"$output\"", "fetch", file]
                + environment.map { "\($0.key)=\($0.value)" }
                // The probe ends while the process's shared loops run: the memory they hold then is not a leak.
                + ["ASAN_OPTIONS=detect_leaks=0"]
                + [products.appendingPathComponent("lupine-transport-probe").path, "fetch", url])
        try #require(end == .exited(0))
        return try String(contentsOfFile: file, encoding: .utf8)
    }
}
