// SPDX-License-Identifier: MIT
internal import BenchmarkHarness

/// The cost of requests as programs make them: a default session, with its cache, cookies and notifications, each request with
/// another URL.
///
/// Each entry has as many connections as concurrent requests; six is a session's default. libcurl's multi interface is the
/// reference, Go's client the rival: neither has a cache. `written` measures what programs add to their requests.
enum ProgramsGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("programs", "a Session as it comes, differing addresses, against libcurl and Go") {
            [
                plain(
                    "default-1", connections: 1, requests: 3_000,
                    goals: Goals(rivalRatio: 1, rivalWallRatio: 1.2)),
                plain("default-6", connections: 6, requests: 6_000),
                plain(
                    "default-64", connections: 64, requests: 12_000, goals: Goals(ratio: 1.5, rivalRatio: 1)),
                plain("default-512", connections: 512, requests: 20_000),
                plain("hosts-8", hosts: 8, connections: 64, requests: 12_000),
                written("written-64", connections: 64, requests: 12_000),
            ]
        }
    }

    private static func plain(
        _ name: String, hosts: Int = 1, connections: Int, requests: Int, goals: Goals = Goals()
    ) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, hosts: hosts, path: "/small?", connections: connections, requests: requests,
                goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request", rival: "Go",
            entries: [
                entry("curl-multi", .peer("curl-multi")),
                entry("Go", .peer("go-http")),
                // Each URL is requested once: stored responses are of no use, but their cost is part of a request's.
                entry("Session, no cache", .ours("pipeline-load", ["addresses"])),
                entry("Session", .ours("pipeline-load", ["program"]), goals: goals),
            ])
    }

    /// Returns a case with a document of about a KiB: as data, then with an interceptor, a monitor and a validator, then decoded,
    /// too.
    private static func written(_ name: String, connections: Int, requests: Int) -> BenchmarkCase {
        func entry(_ name: String, _ form: String, goals: Goals = Goals()) -> Entry {
            PeerProgram.ours("pipeline-load", [form]).entry(
                name, path: "/document.json?", connections: connections, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request",
            entries: [
                entry("plain", "program"),
                entry("adapted, heard of, validated", "written", goals: Goals(ratio: 1.5)),
                entry("and decoded", "writtenDecodable"),
            ])
    }
}
