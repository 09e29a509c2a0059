// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// What the whole way costs: `request(url).serializingData()`, keep-alive GETs of 953 bytes from nginx on loopback.
///
/// The raw floor is the reference: a C program that does nothing but epoll, send and receive. Beside the pipeline stand the
/// transport alone, libcurl, Go's client and Foundation's URLSession. `decodable` is about what decoding adds, `cache` about what storing
/// an answer adds and what finding one saves, `executor` about tasks that run on the session's event loops.
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

    /// `goals` are those of `serializingData()`.
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

    /// The same requests by tasks of Swift's pool and by tasks on the session's event loops.
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

    /// What a cache adds to a request whose answer is stored, every time for another address, and what it saves where it has one.
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

    /// A document of about a KiB, as data and decoded. What decoding adds to a request, as a part of what the decoder takes alone,
    /// is measured inside of one process, in turn.
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
