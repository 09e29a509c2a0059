// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// The cost of the URL loading system: keep-alive GETs of 953 bytes, and a download of 1 GiB, from nginx on loopback.
///
/// The transport alone is the reference of the GETs: its engine with callbacks on one loop, and its public client. They are
/// compared with `URLSession` with async methods and with completion handlers, the library's and Foundation's, used by the same
/// source. The download's reference is libcurl writing to a file.
enum LoadingGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup(
            "loading", "URLSession against the transport alone, Foundation's URLSession and libcurl"
        ) {
            [
                get("get-1", connections: 1, requests: 3_000),
                get("get-8", connections: 8, requests: 6_000),
                get("get-64", connections: 64, requests: 12_000),
                download("download-1GiB"),
            ]
        }
    }

    private static let foundation = "Foundation, async"

    private static func get(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            program.entry(name, path: "/small", connections: connections, requests: requests)
        }
        return BenchmarkCase(
            name, unit: "request", rival: foundation,
            entries: [
                entry("pool, 1 loop", .ours(["pool", "1"])),
                entry("client", .ours(["client", "0"])),
                entry("URLSession, async", .ours("session-load", ["async"])),
                entry("URLSession, handler", .ours("session-load", ["handler"])),
                entry(foundation, .ours("foundation-load", ["async"])),
                entry("Foundation, handler", .ours("foundation-load", ["handler"])),
            ])
    }

    private static func download(_ name: String) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            program.entry(name, path: "/big", connections: 1, requests: 1, isFixed: true)
        }
        return BenchmarkCase(
            name, unit: "download", bytes: 1 << 30,
            entries: [
                entry("curl-file", .peer("curl-file")),
                entry("URLSession", .ours("session-load", ["download"])),
                entry("Foundation", .ours("foundation-load", ["download"])),
            ])
    }
}
