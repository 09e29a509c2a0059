// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// Handshakes and keep-alive GETs over TLS with nginx on loopback; a raw epoll loop on OpenSSL is the reference, libcurl on the
/// same OpenSSL the rival. All verify chain and host.
///
/// A case of handshakes counts whole connections: connect, handshake, one GET of 953 bytes, a proper close, sixteen at a time.
/// The group `memory` measures idle connections.
enum TLSGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("tls", "handshakes and GETs over TLS against a raw loop on OpenSSL, libcurl and Go") {
            ["1.2", "1.3"].flatMap { version in
                [
                    job(.full, version, connections: 16, requests: 2_000, goals: Goals(ratio: 1.15)),
                    job(
                        .resumed, version, connections: 16, requests: 4_000,
                        goals: Goals(ratio: 1.15, above: ["resumed %": 99])),
                    job(.get, version, connections: 64, requests: 100_000, goals: Goals(rivalRatio: 0.8)),
                    job(
                        .get, version, connections: 64, requests: 100_000, rival: "Go",
                        goals: Goals(rivalRatio: 1)),
                ]
            }
        }
    }

    /// The use of the connections; the raw values are the programs' arguments.
    private enum Mode: String {
        case full, resumed, get

        var unit: String {
            switch self {
            case .full, .resumed: "connection"
            case .get: "request"
            }
        }
    }

    /// Returns a case; `goals` are the library's.
    private static func job(
        _ mode: Mode, _ version: String, connections: Int, requests: Int, rival: String = "curl-tls",
        goals: Goals
    ) -> BenchmarkCase {
        let options = [mode.rawValue, version, BenchmarkServer.authorities]
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, from: .tls, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            "\(mode.rawValue)-\(connections)-\(version)\(rival == "Go" ? "-go" : "")", unit: mode.unit,
            rival: rival,
            entries: [
                entry("tls-floor", .peer("tls-floor", options)),
                entry("curl-tls", .peer("curl-tls", options)),
                entry("Go", .peer("go-http", options)),
                entry("pool, 1 loop", .ours(["pool", "1"] + options), goals: goals),
            ])
    }
}
