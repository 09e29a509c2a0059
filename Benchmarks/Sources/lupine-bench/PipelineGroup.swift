// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// The cost of the whole pipeline: `request(url).serializingData()`, keep-alive GETs of 953 bytes from nginx on loopback.
///
/// The reference is a C program that only calls epoll, send and receive. The pipeline is compared with the transport alone,
/// libcurl, Go's client and Foundation's URLSession. `decodable` measures what decoding adds, `cache` what storing a response
/// adds and what a stored one saves, `executor` tasks that run on the session's event loops.
enum PipelineGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("pipeline", "requests of a Session against the raw floor, libcurl, Go and Foundation")
        {
            [
                get("get-1", connections: 1, requests: 3_000, goals: Goals(wallRatio: 1.5)),
                get("get-8", connections: 8, requests: 6_000),
                get("get-64", connections: 64, requests: 12_000, goals: Goals(ratio: 3.3, rivalRatio: 1)),
                executor("executor-1", connections: 1, requests: 3_000),
                executor("executor-64", connections: 64, requests: 12_000),
                decodable("decodable-64", connections: 64, requests: 12_000),
                cached("cache-1", connections: 1, requests: 3_000),
                cached("cache-64", connections: 64, requests: 12_000),
            ]
        }
    }

    /// Returns a case; `goals` are those of `serializingData()`.
    private static func get(
        _ name: String, connections: Int, requests: Int, goals: Goals = Goals()
    ) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request", rival: "Go",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")),
                entry("curl-multi", .peer("curl-multi")),
                entry("Go", .peer("go-http")),
                entry("pool, 1 loop", .ours(["pool", "1"])),
                entry("URLSession, handler", .ours("session-load", ["handler"])),
                entry("Session, async", .ours("pipeline-load", ["async"]), goals: goals),
                entry("Session, handler", .ours("pipeline-load", ["handler"])),
                entry("Foundation, async", .ours("foundation-load", ["async"])),
            ])
    }

    /// Returns a case with the same requests in tasks of Swift's pool and in tasks on the session's event loops.
    private static func executor(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            program.entry(name, path: "/small", connections: connections, requests: requests)
        }
        return BenchmarkCase(
            name, unit: "request", rival: "Go",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")),
                entry("Go", .peer("go-http")),
                entry("Session, async", .ours("pipeline-load", ["async"])),
                entry("Session, executor", .ours("pipeline-load", ["executor"])),
                entry("HTTPClient", .ours(["client", "1"])),
                entry("HTTPClient, executor", .ours(["executor", "1"])),
            ])
    }

    /// Returns a case for the cost that a cache adds to a request whose response is stored, each with another URL, and for the
    /// cost that a stored response saves.
    private static func cached(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ form: String, goals: Goals = Goals()) -> Entry {
            PeerProgram.ours("pipeline-load", [form]).entry(
                name, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request",
            entries: [
                entry("no cache", "addresses"),
                entry("stored", "storing", goals: Goals(ratio: 1.5)),
                entry("from memory", "memoryHit", goals: Goals(ratio: 0.4)),
                entry("from the disk", "diskHit", goals: Goals(ratio: 1)),
                entry("revalidated", "revalidated"),
            ])
    }

    /// Returns a case with a document of about a KiB, as data and decoded. The cost that decoding adds, divided by that of the
    /// decoder alone, is measured in one process, in alternation.
    private static func decodable(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ form: String, goals: Goals = Goals()) -> Entry {
            PeerProgram.ours("pipeline-load", [form]).entry(
                name, path: "/document.json", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request",
            entries: [
                entry("serializingData", "async"),
                entry("serializingDecodable", "decoding", goals: Goals(below: ["decoding added/own": 1.1])),
            ])
    }
}
