// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// Requests that share one HTTP/2 connection, 64 at a time, each with another URL.
///
/// Over TLS h2load, which only generates load, is the reference; libcurl and Go's client are the rivals. All except h2load verify
/// chain and host. Without TLS the library's own HTTP/1.1 on 64 connections is the reference. The memory of a stream is measured
/// with 256 of them on one connection, with a server that answers when all have arrived.
enum HTTP2Group {
    static var group: BenchmarkGroup {
        BenchmarkGroup("http2", "HTTP/2 on one connection against h2load, libcurl, Go and HTTP/1.1") {
            [
                get("get-64", from: .http2TLS, rival: "curl-tls"),
                get("get-64-go", from: .http2TLS, rival: "Go"),
                get("get-64-nghttpd", from: .nghttpd, rival: "curl-tls"),
                get("get-64-nghttpd-go", from: .nghttpd, rival: "Go"),
                plain("plain-64") { .ours($0 + ["pool", "1"]) },
                plain("plain-64-session") { .ours("pipeline-load", $0 + ["addresses"]) },
                inFlight("in-flight-256", 256),
            ] + TransferGroup.http2
        }
    }

    /// The first argument of the load programs, which selects HTTP/2.
    static let version = ["--http2"]
    private static let streams = 64
    private static let requests = 50_000

    private static func get(_ name: String, from server: BenchmarkServer, rival: String) -> BenchmarkCase {
        let options = ["get", "1.3", BenchmarkServer.authorities]
        func entry(_ name: String, _ program: PeerProgram, goals: Goals = Goals()) -> Entry {
            program.entry(
                name, from: server, path: "/small?", connections: streams, requests: requests, goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request", rival: rival,
            entries: [
                h2load(from: server),
                entry("curl-tls", .peer("curl-tls", version + options)),
                entry("Go", .peer("go-http", version + options)),
                entry(
                    "pool, 1 loop", .ours(version + ["pool", "1"] + options),
                    goals: Goals(ratio: 1.5, rivalRatio: 0.7)),
                entry(
                    "Session", .ours("pipeline-load", version + ["addresses"] + options),
                    goals: Goals(rivalRatio: rival == "Go" ? 1 : nil)),
            ])
    }

    /// Returns the entry for h2load. It reports no usable times, so the cost is that of the whole process, including its start
    /// and the handshake.
    private static func h2load(from server: BenchmarkServer) -> Entry {
        PeerProgram.command("h2load").commandEntry("h2load", from: server, count: requests) { host, port in
            ["-n", "\(requests)", "-c", "1", "-m", "\(streams)", "-t", "1"]
                + (0..<streams).map { "https://\(host):\(port)/small?\($0)" }
        }
    }

    private static func plain(
        _ name: String, _ program: (_ version: [String]) -> PeerProgram
    ) -> BenchmarkCase {
        BenchmarkCase(
            name, unit: "request",
            entries: [
                program([]).entry(
                    "HTTP/1.1", path: "/small?", connections: streams, requests: requests),
                program(version).entry(
                    "HTTP/2", from: .http2, path: "/small?", connections: streams, requests: requests,
                    goals: Goals(ratio: 0.8)),
            ])
    }

    /// Returns a case for the peak memory of requests in flight, without their connection.
    private static func inFlight(_ name: String, _ count: Int) -> BenchmarkCase {
        let tls = ["1.3", BenchmarkServer.authorities]
        func entry(
            _ name: String, from server: BenchmarkServer, _ program: PeerProgram, goals: Goals = Goals()
        ) -> Entry {
            program.entry(
                name, from: server, path: "/\(count)", connections: count, requests: count, isFixed: true,
                goals: goals)
        }
        return BenchmarkCase(
            name, unit: "request", metric: .figure("held B"),
            entries: [
                entry("Go", from: .http2TLS, .peer("go-http", version + ["hold"] + tls)),
                entry(
                    "pool, 1 loop", from: .http2, .ours(version + ["pool", "1", "hold"]),
                    goals: Goals(below: ["held B": 2048])),
                entry("Session", from: .http2, .ours("pipeline-load", version + ["async", "hold"])),
            ])
    }
}
