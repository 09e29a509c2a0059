// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// The growth of a request's cost: with requests in flight, loops, the size of the body, and hosts.
///
/// In most cases the entries are one program at different scales, and the first entry, the smallest, is the reference: a ratio of
/// 1 means that the cost does not grow. In the cases with bodies the raw epoll loop is the reference.
enum ScaleGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("scale", "CPU per request by requests in flight, loops, size of body and hosts") {
            var cases = loaders.map { inFlight($0.name, $0.program, maximumRatio: $0.maximumRatio) }
            cases.append(loops())
            cases += bodies.map { body($0.size, bytes: $0.bytes, requests: $0.requests) }
            // The epoll loop supports only one host.
            cases += loaders.dropFirst().map { hosts($0.name, $0.program) }
            return cases
        }
    }

    /// The programs whose growth is measured. `maximumRatio` is the goal of the library's programs.
    private static var loaders: [(name: String, program: PeerProgram, maximumRatio: Double?)] {
        [
            ("epoll-floor", .peer("epoll-floor"), nil), ("curl-multi", .peer("curl-multi"), nil),
            ("Go", .peer("go-http"), nil), ("pool", .ours(["pool", "1"]), 1.3),
            ("Session", .ours("pipeline-load", ["async"]), 1.3),
        ]
    }

    private static func inFlight(
        _ name: String, _ program: PeerProgram, maximumRatio: Double?
    ) -> BenchmarkCase {
        BenchmarkCase(
            "in-flight, \(name)", unit: "request",
            entries: [1, 8, 64, 512, 4096].map { count in
                program.entry(
                    "\(count) in flight", path: "/small", connections: count,
                    requests: count == 1 ? 10_000 : max(20_000, count * 10),
                    goals: Goals(ratio: count == 512 ? maximumRatio : nil))
            })
    }

    private static func loops() -> BenchmarkCase {
        BenchmarkCase(
            "loops, pool", unit: "request",
            entries: (1...4).map { count in
                PeerProgram.ours(["pool", "\(count)"]).entry(
                    "\(count) loops", path: "/small", connections: 64, requests: 50_000)
            })
    }

    private static let bodies: [(size: String, bytes: Int, requests: Int)] = [
        ("0", 0, 20_000), ("1K", 1 << 10, 20_000), ("16K", 16 << 10, 10_000),
        ("256K", 256 << 10, 2_000), ("1M", 1 << 20, 600), ("16M", 16 << 20, 60), ("100M", 100 << 20, 20),
    ]

    private static func body(_ size: String, bytes: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            program.entry(
                name, path: "/body-\(size)", connections: bytes > 1 << 20 ? 1 : 8, requests: requests)
        }
        return BenchmarkCase(
            "body-\(size)", unit: "request", bytes: bytes, rival: "curl-multi",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")), entry("curl-multi", .peer("curl-multi")),
                entry("Go", .peer("go-http")), entry("pool, 1 loop", .ours(["pool", "1"])),
                entry("URLSession, handler", .ours("session-load", ["handler"])),
                entry("Session, async", .ours("pipeline-load", ["async"])),
            ])
    }

    private static func hosts(_ name: String, _ program: PeerProgram) -> BenchmarkCase {
        BenchmarkCase(
            "hosts, \(name)", unit: "request",
            entries: [1, 10, 100, 1000].map { count in
                program.entry(
                    "\(count) hosts", hosts: count, path: "/small", connections: 64, requests: 30_000)
            })
    }
}
