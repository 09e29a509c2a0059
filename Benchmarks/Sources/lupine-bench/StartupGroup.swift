// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import CBenchmarkCounters
internal import Foundation
internal import Glibc

/// The time from a command's start to the first byte of the response on its output: `lupine`, built for release with a static
/// Swift runtime, compared with curl, which is the reference, and wget.
enum StartupGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("startup", "process start to first response byte: lupine against curl and wget") {
            [job("first-byte", from: .plain), job("first-byte-tls", from: .tls)]
        }
    }

    private static func job(_ name: String, from server: BenchmarkServer) -> BenchmarkCase {
        let authorities = BenchmarkServer.authorities
        let isSecure = server == .tls
        func url(_ host: String, _ port: String) -> String {
            "\(isSecure ? "https" : "http")://\(host):\(port)/small"
        }
        return BenchmarkCase(
            name, unit: "run", metric: .figure("first byte us"),
            entries: [
                entry("curl", .command("curl"), from: server) { host, port in
                    ["-sS", "--noproxy", "*"] + (isSecure ? ["--cacert", authorities] : []) + [
                        url(host, port)
                    ]
                },
                entry("wget", .command("wget"), from: server) { host, port in
                    ["-q", "--no-proxy", "-O", "-"] + (isSecure ? ["--ca-certificate", authorities] : [])
                        + [url(host, port)]
                },
                entry("lupine", .command, from: server, goals: Goals(ratio: 1.5)) { host, port in
                    (isSecure ? ["--cacert", authorities] : []) + [url(host, port)]
                },
            ])
    }

    private static func entry(
        _ name: String, _ program: PeerProgram, from server: BenchmarkServer, goals: Goals = Goals(),
        _ arguments: @escaping (_ host: String, _ port: String) -> [String]
    ) -> Entry {
        guard let address = server.address else { return Entry(name, .absent(BenchmarkServer.absenceReason)) }
        guard program.absenceReason == nil, let file = program.file else {
            return Entry(name, .absent(program.absenceReason ?? ""))
        }
        return Entry(
            name, isOurs: program.isOurs, goals: goals,
            .report { plan in
                var costs: [program_cost] = []
                for _ in 0..<plan.runs(40) {
                    costs.append(try runOnce([file.path] + arguments(address.host, address.port)))
                }
                let first = costs.map { Double($0.first) / 1000 }.sorted()
                return Sample(
                    count: costs.count, wall: costs.map { Double($0.wall) }.reduce(0, +),
                    processor: costs.map { Double($0.cpu) }.reduce(0, +),
                    figures: ["first byte us": first[first.count / 2]])
            })
    }

    /// Runs a program, which must print the document, and returns its cost.
    private static func runOnce(_ command: [String]) throws -> program_cost {
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var cost = program_cost()
        guard unsafe program_first_byte(&arguments, &cost), cost.status == 0, cost.bytes == 953 else {
            throw PeerFailure(program: command[0], status: Int32(cost.status))
        }
        return cost
    }
}
