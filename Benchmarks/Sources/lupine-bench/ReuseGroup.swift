// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// The benefit of persistent connections, per peer: requests per connection and handshakes saved, as counted by the server, the
/// latency of a first request and of later ones, and the cost if every request has a new connection.
enum ReuseGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("reuse", "requests per connection, first and next latency, and the cost of no reuse") {
            [
                load("kept-8", "get", connections: 8, requests: 20_000),
                load("off-8", "full", connections: 8, requests: 4_000),
                load("latency", "get", connections: 1, requests: 2_000),
                load("kept-8-tls", "get", connections: 8, requests: 20_000, version: "1.3"),
                load("off-8-tls", "full", connections: 8, requests: 1_000, version: "1.3"),
                load("latency-tls", "get", connections: 1, requests: 2_000, version: "1.3"),
            ]
        }
    }

    private static func load(
        _ name: String, _ mode: String, connections: Int, requests: Int, version: String? = nil
    ) -> BenchmarkCase {
        let options = [mode] + (version.map { [$0, BenchmarkServer.authorities] } ?? [])
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            program.entry(
                name, from: version == nil ? .plain : .tls, path: "/small", connections: connections,
                requests: requests, countsConnections: true)
        }
        let isTLS = version != nil
        let floor = isTLS ? "tls-floor" : "epoll-floor"
        let curl = isTLS ? "curl-tls" : "curl-multi"
        var entries = [
            entry(floor, .peer(floor, options)), entry(curl, .peer(curl, options)),
            entry("Go", .peer("go-http", options)), entry("Java", .peer("java-http", options)),
            entry("Node", .peer("node-fetch", options)),
        ]
        // In Foundation's URLSession a program cannot set trusted roots.
        if !isTLS { entries.append(entry("Foundation", .ours("foundation-load", ["async"] + options))) }
        entries += [
            entry("pool, 1 loop", .ours(["pool", "1"] + options)),
            entry("URLSession", .ours("session-load", ["async"] + options)),
            entry("Session", .ours("pipeline-load", ["async"] + options)),
        ]
        return BenchmarkCase(name, unit: "request", rival: curl, entries: entries)
    }
}
