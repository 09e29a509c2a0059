// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// The memory of connections: 5,000 idle ones, 1,000 idle ones over TLS, and requests in flight, in bytes of heap and as growth
/// of the program's resident memory.
///
/// A server that answers when all requests have arrived ensures the number of connections. libcurl is the reference without TLS,
/// a raw loop on OpenSSL with released buffers with TLS.
enum MemoryGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("memory", "what idle connections and requests in flight hold") {
            [idle("idle-5000")] + ["1.2", "1.3"].map { idleTLS($0) }
                + [64, 512, 4096].map { inFlight("in-flight-\($0)", $0) }
        }
    }

    private static func idle(_ name: String) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, from: .hold, path: "/5000", connections: 5_000, requests: 5_000, isFixed: true,
                goals: goals)
        }
        return BenchmarkCase(
            name, unit: "connection", metric: .figure("held B"),
            entries: [
                entry("curl-multi", .peer("curl-multi", ["idle"])),
                entry("Go", .peer("go-http", ["idle"])),
                entry("pool, 1 loop", .ours(["pool", "1", "idle"]), goals: Goals(below: ["held B": 1024])),
                entry("URLSession", .ours("session-load", ["async", "idle"])),
                entry("Session", .ours("pipeline-load", ["async", "idle"])),
            ])
    }

    private static func idleTLS(_ version: String) -> BenchmarkCase {
        let options = ["idle", version, BenchmarkServer.authorities]
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, from: .tls, path: "/small", connections: 1_000, requests: 1_000, isFixed: true,
                goals: goals)
        }
        return BenchmarkCase(
            "idle-1000-tls-\(version)", unit: "connection", metric: .figure("held B"), rival: "curl-tls",
            entries: [
                entry("tls-floor", .peer("tls-floor", options)),
                entry("curl-tls", .peer("curl-tls", options)),
                entry("Go", .peer("go-http", options)),
                entry("pool, 1 loop", .ours(["pool", "1"] + options), goals: Goals(ratio: 1.1)),
            ])
    }

    /// Returns a case for the peak memory of requests in flight, with their connections.
    private static func inFlight(_ name: String, _ count: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            program.entry(
                name, from: .hold, path: "/\(count)", connections: count, requests: count, isFixed: true)
        }
        return BenchmarkCase(
            name, unit: "request", metric: .figure("held B"),
            entries: [
                entry("curl-multi", .peer("curl-multi", ["hold"])),
                entry("Go", .peer("go-http", ["hold"])),
                entry("pool, 1 loop", .ours(["pool", "1", "hold"])),
                entry("URLSession, handler", .ours("session-load", ["handler", "hold"])),
                entry("Session, async", .ours("pipeline-load", ["async", "hold"])),
            ])
    }
}
