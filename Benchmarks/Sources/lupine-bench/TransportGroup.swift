// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// Keep-alive GETs of 953 bytes from nginx on loopback; a raw epoll loop in C is the reference.
enum TransportGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("transport", "keep-alive GETs from nginx against a raw epoll loop and libcurl") {
            [
                get("get-1", connections: 1, requests: 20_000),
                get("get-64", connections: 64, requests: 100_000),
            ]
        }
    }

    private static func get(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        BenchmarkCase(
            name, unit: "request",
            entries: ["epoll-floor", "curl-multi"].map { program in
                PeerProgram.entry(program, path: "/small", connections: connections, requests: requests)
            })
    }
}
