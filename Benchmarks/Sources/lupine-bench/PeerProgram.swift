// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation
internal import Glibc

/// A program as an entry: it is started for every sample, does its requests against the server that `Scripts/bench`
/// started, and prints what they cost from its own clocks. A C program of `Peers/`, or the library's `lupine-load`,
/// which stands beside this program.
struct PeerProgram {
    private let file: URL?
    /// What goes before the server's address.
    private let arguments: [String]

    /// A program of `Peers/`.
    static func peer(_ name: String, _ arguments: [String] = []) -> PeerProgram {
        let folder = ProcessInfo.processInfo.environment["LUPINE_BENCH_PEERS"] ?? ""
        return PeerProgram(
            file: folder.isEmpty ? nil : URL(filePath: folder).appending(path: name), arguments: arguments)
    }

    /// The library's program.
    static func ours(_ arguments: [String]) -> PeerProgram { ours("lupine-load", arguments) }

    /// A program of this package, which stands beside this one.
    static func ours(_ name: String, _ arguments: [String]) -> PeerProgram {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return PeerProgram(
            file: own.deletingLastPathComponent().appending(path: name), arguments: arguments)
    }

    /// A program of the system, looked for where the shell would.
    static func command(_ name: String) -> PeerProgram {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let files = folders.map { URL(filePath: String($0)).appending(path: name) }
        return PeerProgram(
            file: files.first { FileManager.default.isExecutableFile(atPath: $0.path) }, arguments: [])
    }

    /// What the server is spoken to over; the value is the variable that holds its address.
    enum Server: String {
        case plain = "LUPINE_BENCH_SERVER"
        case tls = "LUPINE_BENCH_TLS_SERVER"

        /// Nil when there is no server.
        fileprivate var address: (host: String, port: String)? {
            let parts = ProcessInfo.processInfo.environment[rawValue]?.split(separator: ":") ?? []
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
    }

    /// An entry that loads `path` over `connections` connections; `isFixed` where no plan may ask for fewer or more requests.
    func entry(
        _ name: String, from server: Server = .plain, path: String, connections: Int, requests: Int,
        isFixed: Bool = false, goals: Goals = Goals()
    ) -> Entry {
        guard let server = server.address else {
            return Entry(name, .absent("no server; Scripts/bench starts one where nginx is installed"))
        }
        guard let file, FileManager.default.isExecutableFile(atPath: file.path) else {
            return Entry(name, .absent("not built; Scripts/bench builds it where its library is"))
        }
        return Entry(
            name, goals: goals,
            .report { plan in
                let count = "\(isFixed ? requests : plan.runs(requests))"
                return try Self.run(
                    file, arguments + [server.host, server.port, path, "\(connections)", count])
            })
    }

    /// An entry that runs the program once from its start to its end, and has the kernel say what that cost: for commands,
    /// which have no clocks of their own. `arguments` are made of the server's host and port.
    func whole(
        _ name: String, environment: [String: String] = [:], goals: Goals = Goals(),
        _ arguments: @escaping (_ host: String, _ port: String) -> [String]
    ) -> Entry {
        guard let server = Server.plain.address else {
            return Entry(name, .absent("no server; Scripts/bench starts one where nginx is installed"))
        }
        guard let file, FileManager.default.isExecutableFile(atPath: file.path) else {
            return Entry(name, .absent("not installed"))
        }
        return Entry(
            name, goals: goals,
            .report { _ in
                let clock = ContinuousClock()
                let before = Self.childrensProcessorTime()
                let wall = try clock.measure {
                    let process = Process()
                    process.executableURL = file
                    process.arguments = arguments(server.host, server.port)
                    process.standardOutput = FileHandle.nullDevice
                    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
                    try process.run()
                    process.waitUntilExit()
                    guard process.terminationStatus == 0 else {
                        throw PeerFailure(program: file.lastPathComponent, status: process.terminationStatus)
                    }
                }
                return Sample(
                    count: 1, wall: wall / .nanoseconds(1),
                    processor: Self.childrensProcessorTime() - before)
            })
    }

    /// Nanoseconds that the programs that were run and waited for have taken.
    private static func childrensProcessorTime() -> Double {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        func nanoseconds(_ time: timeval) -> Double {
            Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3
        }
        return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
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
        var figures = ["resident KiB": cost.resident]
        if let connects = cost.connects {
            figures["connects/1000 requests"] = connects / Double(max(1, cost.requests)) * 1000
            if let resumed = cost.resumed, connects > 0 { figures["resumed %"] = resumed / connects * 100 }
        }
        figures["grown KiB"] = cost.grown
        figures["held B"] = cost.heapPerConnection
        return Sample(
            count: cost.requests, wall: cost.wall, processor: cost.cpu, allocations: cost.allocations,
            allocatedBytes: cost.allocatedBytes, figures: figures)
    }

    /// What the programs print.
    private struct Cost: Decodable {
        var requests: Int
        /// Nil where the program cannot tell.
        var connects: Double?
        var wall: Double
        var cpu: Double
        var allocations: Double?
        var allocatedBytes: Double?
        var resident: Double
        /// By how many KiB the program grew while it loaded; where that is the job.
        var grown: Double?
        /// How many of the connects resumed a session; over TLS.
        var resumed: Double?
        /// What a connection that lies idle holds of the heap; where that is the job.
        var heapPerConnection: Double?
    }
}

/// A peer's program ended with an error; it said why on the standard error stream.
struct PeerFailure: Error, CustomStringConvertible {
    let program: String
    let status: Int32

    var description: String { "\(program) ended with status \(status)" }
}
