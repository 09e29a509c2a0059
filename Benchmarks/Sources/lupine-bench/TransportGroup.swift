// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// Keep-alive GETs of 953 bytes from nginx on loopback; a raw epoll loop in C is the reference, libcurl the peer.
///
/// `pool` is the transport's engine through its callbacks, on one loop and on the default number of them; `client` is
/// the public client, awaited.
enum TransportGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("transport", "keep-alive GETs from nginx against a raw epoll loop and libcurl") {
            [
                get("get-1", connections: 1, requests: 20_000),
                get("get-8", connections: 8, requests: 50_000),
                get("get-64", connections: 64, requests: 100_000),
                get("get-512", connections: 512, requests: 100_000),
            ]
        }
    }

    private static func get(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(name, path: "/small", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")),
                entry("curl-multi", .peer("curl-multi")),
                entry("pool, 1 loop", .ours(["pool", "1"]), goals: Goals(ratio: 1.6)),
                entry("pool, default loops", .ours(["pool", "0"])),
                entry("client, default loops", .ours(["client", "0"])),
            ])
    }
}
