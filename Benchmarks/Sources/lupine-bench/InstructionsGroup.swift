// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import CBenchmarkPeers

/// The instructions of a head and of a request, compared with llhttp, a raw epoll loop and libcurl: the group for `--check
/// BUDGET.json`. Other load on the machine does not disturb it.
///
/// One request at a time and eight at a time: with one, threads wake each other for every request.
enum InstructionsGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("instructions", "instructions in user space per head and per request, by valgrind") {
            [
                head("head-nginx"), get("get-1", connections: 1), get("get-8", connections: 8),
                tls("tls-get-8"), http2("http2-get-8"),
                decoding("decoding"),
            ]
        }
    }

    private static func head(_ name: String) -> BenchmarkCase {
        func entry(_ entry: String, isOurs: Bool, goals: Goals = Goals()) -> Entry {
            InstructionCount.loop(
                entry, of: "http/\(name)/\(entry)", isOurs: isOurs, times: (2_000, 12_000), goals: goals)
        }
        let bytes = ResponseHeads.nginx
        let peer = LLHTTP.heads(bytes, fields: 8, PEER_LLHTTP_REUSED)
        if case .absent(let reason) = peer.body {
            return BenchmarkCase(
                name, unit: "head", metric: .instructions, isSteady: true,
                entries: [
                    Entry(peer.name, .absent(reason)), entry(Codec.heads(bytes).name, isOurs: true),
                ])
        }
        return BenchmarkCase(
            name, unit: "head", metric: .instructions, isSteady: true,
            entries: [
                entry(peer.name, isOurs: false),
                entry(Codec.heads(bytes).name, isOurs: true, goals: Goals(ratio: 0.5)),
            ])
    }

    private static func get(_ name: String, connections: Int) -> BenchmarkCase {
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            InstructionCount.entry(
                name, program, path: "/small", connections: connections, requests: (600, 1_600))
        }
        return BenchmarkCase(
            name, unit: "request", metric: .instructions, isSteady: true, rival: "curl-multi",
            entries: [
                entry("epoll-floor", .peer("epoll-floor")), entry("curl-multi", .peer("curl-multi")),
                entry("pool, 1 loop", .ours(["pool", "1"])),
                entry("URLSession, handler", .ours("session-load", ["handler"])),
                entry("Session, async", .ours("pipeline-load", ["async"])),
            ])
    }

    private static func tls(_ name: String) -> BenchmarkCase {
        let options = ["get", "1.3", BenchmarkServer.authorities]
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            InstructionCount.entry(
                name, program, from: .tls, path: "/small", connections: 8, requests: (600, 1_600))
        }
        return BenchmarkCase(
            name, unit: "request", metric: .instructions, isSteady: true, rival: "curl-tls",
            entries: [
                entry("tls-floor", .peer("tls-floor", options)),
                entry("curl-tls", .peer("curl-tls", options)),
                entry("pool, 1 loop", .ours(["pool", "1"] + options)),
            ])
    }

    /// Returns the same over one HTTP/2 connection.
    private static func http2(_ name: String) -> BenchmarkCase {
        let options = ["get", "1.3", BenchmarkServer.authorities]
        func entry(_ name: String, _ program: PeerProgram) -> Entry {
            InstructionCount.entry(
                name, program, from: .http2TLS, path: "/small?", connections: 8, requests: (600, 1_600))
        }
        return BenchmarkCase(
            name, unit: "request", metric: .instructions, isSteady: true,
            entries: [
                entry("curl-tls", .peer("curl-tls", HTTP2Group.version + options)),
                entry("pool, 1 loop", .ours(HTTP2Group.version + ["pool", "1"] + options)),
                entry("Session", .ours("pipeline-load", HTTP2Group.version + ["addresses"] + options)),
            ])
    }

    /// Returns a case for the cost that decoding a document of one KiB adds; the decoder alone is the reference.
    private static func decoding(_ name: String) -> BenchmarkCase {
        func entry(_ name: String, _ form: String) -> Entry {
            InstructionCount.entry(
                name, .ours("pipeline-load", [form]), path: "/document.json", connections: 8,
                requests: (600, 1_600))
        }
        return BenchmarkCase(
            name, unit: "request", metric: .instructions, isSteady: true,
            entries: [
                entry("decoder alone", "decoder"), entry("serializingData", "async"),
                entry("serializingDecodable", "decodable"),
            ])
    }
}
