// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// Handshakes, keep-alive GETs and idle connections over TLS with nginx on loopback; a raw epoll loop on OpenSSL is the
/// reference, libcurl on the same OpenSSL the peer. All verify chain and host.
///
/// A handshake's case counts whole connections: connect, handshake, one GET of 953 bytes, a proper close, eight at a time.
enum TLSGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("tls", "handshakes and GETs over TLS against a raw loop on OpenSSL and libcurl") {
            ["1.2", "1.3"].flatMap { version in
                [
                    job(.full, version, connections: 8, requests: 2_000, goals: Goals(ratio: 1.15)),
                    job(
                        .resumed, version, connections: 8, requests: 4_000,
                        goals: Goals(ratio: 1.15, above: ["resumed %": 99])),
                    job(.get, version, connections: 64, requests: 100_000, goals: Goals(rivalRatio: 0.8)),
                    job(.idle, version, connections: 1_000, requests: 1_000, goals: Goals(ratio: 1.1)),
                ]
            }
        }
    }

    /// What a program does with its connections; the programs know the modes by these names.
    private enum Mode: String {
        case full, resumed, get, idle

        var unit: String {
            switch self {
            case .full, .resumed, .idle: "connection"
            case .get: "request"
            }
        }

        var metric: Metric {
            switch self {
            case .full, .resumed, .get: .processor
            case .idle: .figure("held B")
            }
        }
    }

    /// `goals` are the library's.
    private static func job(
        _ mode: Mode, _ version: String, connections: Int, requests: Int, goals: Goals
    ) -> BenchmarkCase {
        let root = ProcessInfo.processInfo.environment["LUPINE_BENCH_TLS_ROOT"] ?? ""
        let terms = [mode.rawValue, version, root]
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, from: .tls, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            "\(mode.rawValue)-\(connections)-\(version)", unit: mode.unit, metric: mode.metric,
            rival: "curl-tls",
            entries: [
                entry("tls-floor", .peer("tls-floor", terms)),
                entry("curl-tls", .peer("curl-tls", terms)),
                entry("pool, 1 loop", .ours(["pool", "1"] + terms), goals: goals),
            ])
    }
}
