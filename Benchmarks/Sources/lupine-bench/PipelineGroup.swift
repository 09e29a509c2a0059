// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// What the whole way costs: `request(url).serializingData()`, keep-alive GETs of 953 bytes from nginx on loopback.
///
/// The raw floor is the reference: a C program that does nothing but epoll, send and receive. Beside the pipeline stand the
/// transport alone, libcurl and Foundation's URLSession.
enum PipelineGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("pipeline", "requests of a Session against the raw floor, libcurl and Foundation") {
            [
                get("get-1", connections: 1, requests: 3_000),
                get("get-8", connections: 8, requests: 6_000),
                get("get-64", connections: 64, requests: 12_000, ratio: 3.3),
            ]
        }
    }

    private static func get(
        _ name: String, connections: Int, requests: Int, ratio: Double? = nil
    ) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request", rival: "curl-multi",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")),
                entry("curl-multi", .peer("curl-multi")),
                entry("pool, 1 loop", .ours(["pool", "1"])),
                entry("URLSession, handler", .ours("session-load", ["handler"])),
                entry("Session, async", .ours("pipeline-load", ["async"]), goals: Goals(ratio: ratio)),
                entry("Session, handler", .ours("pipeline-load", ["handler"])),
                entry("Foundation, async", .ours("foundation-load", ["async"])),
            ])
    }
}
