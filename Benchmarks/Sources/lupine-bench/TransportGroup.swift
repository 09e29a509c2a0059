// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// Keep-alive GETs of 953 bytes from nginx on loopback; a raw epoll loop in C is the reference, libcurl, Go, Java and Node are
/// the peers.
///
/// `pool` is the transport's engine with callbacks, on one loop and on the default number of loops; `client` is the public client
/// with async methods. `new-16` makes a connection for every request.
enum TransportGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("transport", "GETs from nginx against a raw epoll loop, libcurl, Go, Java and Node") {
            [
                get("get-1", connections: 1, requests: 20_000, goals: Goals(wallRatio: 1.15)),
                get("get-8", connections: 8, requests: 50_000),
                get("get-64", connections: 64, requests: 100_000, goals: Goals(ratio: 1.6, rivalRatio: 0.65)),
                get("get-512", connections: 512, requests: 100_000),
                rate("rate-64", connections: 64, requests: 100_000),
                fresh("new-16", connections: 16, requests: 8_000),
            ]
        }
    }

    /// Returns a case; `goals` are those of the pool on one loop.
    private static func get(
        _ name: String, connections: Int, requests: Int, goals: Goals = Goals()
    ) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(name, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request", rival: "curl-multi",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")),
                entry("curl-multi", .peer("curl-multi")),
                entry("Go", .peer("go-http")),
                entry("Java", .peer("java-http")),
                entry("Node", .peer("node-fetch")),
                entry("pool, 1 loop", .ours(["pool", "1"]), goals: goals),
                entry("pool, default loops", .ours(["pool", "0"])),
                entry("client, default loops", .ours(["client", "0"])),
            ])
    }

    /// Returns a case for requests per second of elapsed time; the goal is to be faster than Go.
    private static func rate(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(name, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request", metric: .wall, rival: "Go",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")), entry("Go", .peer("go-http")),
                entry("pool, 1 loop", .ours(["pool", "1"]), goals: Goals(rivalRatio: 1)),
                entry("pool, default loops", .ours(["pool", "0"])),
            ])
    }

    private static func fresh(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(name, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "connection", rival: "curl-multi",
            entries: [
                entry("epoll-floor", .peer("epoll-floor", ["full"])),
                entry("curl-multi", .peer("curl-multi", ["full"])),
                entry("Go", .peer("go-http", ["full"])),
                entry("pool, 1 loop", .ours(["pool", "1", "full"]), goals: Goals(ratio: 1.15)),
            ])
    }
}
