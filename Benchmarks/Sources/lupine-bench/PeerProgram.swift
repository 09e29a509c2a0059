// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// A C program of `Peers/` as an entry: it is started for every sample, does its requests against the server that
/// `Scripts/bench` started, and prints what they cost from its own clocks.
enum PeerProgram {
    /// The server's address, or nil when there is none.
    static var server: (host: String, port: String)? {
        let parts = ProcessInfo.processInfo.environment["LUPINE_BENCH_SERVER"]?.split(separator: ":") ?? []
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    /// An entry that loads `path` over `connections` kept connections.
    static func entry(_ program: String, path: String, connections: Int, requests: Int) -> Entry {
        guard let server else {
            return Entry(program, .absent("no server; Scripts/bench starts one where nginx is installed"))
        }
        let folder = ProcessInfo.processInfo.environment["LUPINE_BENCH_PEERS"] ?? ""
        let file = URL(filePath: folder).appending(path: program)
        guard !folder.isEmpty, FileManager.default.isExecutableFile(atPath: file.path) else {
            return Entry(program, .absent("not built; Scripts/bench builds it where its library is"))
        }
        return Entry(
            program,
            .report { plan in
                let count = "\(plan.runs(requests))"
                return try run(file, [server.host, server.port, path, "\(connections)", count])
            })
    }

    private static func run(_ program: URL, _ arguments: [String]) throws -> Sample {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw PeerFailure(program: program.lastPathComponent, status: process.terminationStatus)
        }
        let cost = try JSONDecoder().decode(Cost.self, from: printed)
        return Sample(
            count: cost.requests, wall: cost.wall, processor: cost.cpu,
            figures: ["resident KiB": cost.resident])
    }

    /// What the programs print.
    private struct Cost: Decodable {
        var requests: Int
        var wall: Double
        var cpu: Double
        var resident: Double
    }
}

/// A peer's program ended with an error; it said why on the standard error stream.
struct PeerFailure: Error, CustomStringConvertible {
    let program: String
    let status: Int32

    var description: String { "\(program) ended with status \(status)" }
}
