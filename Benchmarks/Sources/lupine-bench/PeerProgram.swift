// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import CBenchmarkCounters
internal import Foundation
internal import Glibc

/// A program that entries run: a program of `Peers/`, or one of this package, in the same folder as this program.
///
/// It is started for every sample, sends its requests to the server that `Scripts/bench` has started, and prints their cost
/// according to its own clocks.
struct PeerProgram {
    let file: URL?
    /// The arguments before the server's address.
    let arguments: [String]
    /// Whether it uses the library.
    var isOurs = false

    /// Returns a program of `Peers/`.
    static func peer(_ name: String, _ arguments: [String] = []) -> PeerProgram {
        let folder = ProcessInfo.processInfo.environment["LUPINE_BENCH_PEERS"] ?? ""
        return PeerProgram(
            file: folder.isEmpty ? nil : URL(filePath: folder).appending(path: name), arguments: arguments)
    }

    /// Returns the library's `lupine-load`.
    static func ours(_ arguments: [String]) -> PeerProgram { ours("lupine-load", arguments) }

    /// Returns a program of this package, in the same folder as this one.
    static func ours(_ name: String, _ arguments: [String]) -> PeerProgram {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return PeerProgram(
            file: own.deletingLastPathComponent().appending(path: name), arguments: arguments,
            isOurs: name != "foundation-load")
    }

    /// The command `lupine`, as `Scripts/bench` has built it for the group `startup`.
    static var command: PeerProgram {
        let path = ProcessInfo.processInfo.environment["LUPINE_BENCH_COMMAND"]
        return PeerProgram(file: path.map { URL(filePath: $0) }, arguments: [], isOurs: true)
    }

    /// Returns a program of the system, found in `PATH`.
    static func command(_ name: String) -> PeerProgram {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let files = folders.map { URL(filePath: String($0)).appending(path: name) }
        return PeerProgram(
            file: files.first { FileManager.default.isExecutableFile(atPath: $0.path) }, arguments: [])
    }

    /// The reason why the program cannot run; nil if it can.
    var absenceReason: String? {
        guard let file, FileManager.default.isExecutableFile(atPath: file.path) else {
            return "not built or not installed; Scripts/bench builds it where what it needs is"
        }
        return nil
    }

    /// Returns an entry that loads `path` over `connections` connections. With `isFixed`, the number of requests does not depend
    /// on the plan.
    func entry(
        _ name: String, from server: BenchmarkServer = .plain, hosts: Int = 1, path: String, connections: Int,
        requests: Int, isFixed: Bool = false, countsConnections: Bool = false, goals: Goals = Goals()
    ) -> Entry {
        guard let address = server.address else { return Entry(name, .absent(BenchmarkServer.absenceReason)) }
        guard absenceReason == nil, let file else { return Entry(name, .absent(absenceReason ?? "")) }
        guard let host = hosts == 1 ? address.host : BenchmarkServer.manyHosts.map({ "\($0)x\(hosts)" })
        else {
            return Entry(name, .absent("the server has one address"))
        }
        return Entry(
            name, isOurs: isOurs, goals: goals,
            .report { plan in
                let count = "\(isFixed ? requests : plan.runs(requests))"
                let before = countsConnections ? BenchmarkServer.totals() : nil
                var sample = try Self.run(
                    file, arguments + [host, address.port, path, "\(connections)", count])
                if let before, let now = BenchmarkServer.totals() {
                    // The totals include the connection and the request that has read them.
                    let opened = Double(now.connections - before.connections) - 1
                    let answered = Double(now.requests - before.requests) - 1
                    sample.figures["requests/connection"] = answered / max(opened, 1)
                    sample.figures["handshakes saved %"] = (1 - opened / max(answered, 1)) * 100
                }
                return sample
            })
    }

    /// Returns an entry for a command, which reports no times: it runs the command once, and reads its cost from the kernel. The
    /// command does the job `count` times. `arguments` returns the arguments for the server's host and port; `prepare` runs
    /// before each start.
    func commandEntry(
        _ name: String, from server: BenchmarkServer = .plain, count: Int = 1,
        environment: [String: String] = [:], goals: Goals = Goals(),
        prepare: @escaping () throws -> Void = {},
        _ arguments: @escaping (_ host: String, _ port: String) -> [String]
    ) -> Entry {
        guard let address = server.address else { return Entry(name, .absent(BenchmarkServer.absenceReason)) }
        guard absenceReason == nil, let file else { return Entry(name, .absent(absenceReason ?? "")) }
        return Entry(
            name, isOurs: isOurs, goals: goals,
            .report { _ in
                try prepare()
                let clock = ContinuousClock()
                let before = Self.childrensProcessorTime()
                var printed = Data()
                let wall = try clock.measure {
                    printed = try Self.output(
                        of: file, arguments(address.host, address.port), environment: environment)
                }
                var sample = Sample(
                    count: count, wall: wall / .nanoseconds(1),
                    processor: Self.childrensProcessorTime() - before)
                // A program of the package reports its memory.
                if let cost = try? JSONDecoder().decode(Cost.self, from: printed) {
                    sample.figures["grown KiB"] = cost.grown
                    sample.figures["resident KiB"] = cost.resident
                }
                return sample
            })
    }

    /// Returns the processor time of the child processes that have ended, in nanoseconds.
    private static func childrensProcessorTime() -> Double {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        func nanoseconds(_ time: timeval) -> Double {
            Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3
        }
        return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
    }

    /// Runs a program to its end, and returns its output.
    private static func output(
        of program: URL, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw PeerFailure(program: program.lastPathComponent, status: process.terminationStatus)
        }
        return printed
    }

    private static func run(_ program: URL, _ arguments: [String]) throws -> Sample {
        let cost = try JSONDecoder().decode(Cost.self, from: try output(of: program, arguments))
        var figures = ["resident KiB": cost.resident]
        if let connects = cost.connects {
            figures["connects/1000 requests"] = connects / Double(max(1, cost.requests)) * 1000
            if let resumed = cost.resumed, connects > 0 { figures["resumed %"] = resumed / connects * 100 }
        }
        let requests = Double(max(1, cost.requests))
        figures["user us"] = cost.user.map { $0 / requests / 1000 }
        figures["switches/request"] = cost.switches.map { $0 / requests }
        figures["grown KiB"] = cost.grown
        figures["held B"] = cost.heapPerConnection
        figures["resident B"] = cost.residentPerConnection
        if let first = cost.first {
            figures["first us"] = first / 1000
            figures["next us"] = cost.wall / Double(max(1, cost.requests)) / 1000
        }
        if let own = cost.decoderOwn, let added = cost.decodingAdded, own > 0 {
            figures["decoder's own ns"] = own
            figures["decoding added/own"] = added / own
        }
        return Sample(
            count: cost.requests, wall: cost.wall, processor: cost.cpu, allocations: cost.allocations,
            allocatedBytes: cost.allocatedBytes, figures: figures)
    }

    /// The output of the programs.
    private struct Cost: Decodable {
        var requests: Int
        /// Nil if the program cannot report it.
        var connects: Double?
        var wall: Double
        var cpu: Double
        /// The part of `cpu` in user space, and the number of context switches. Nil if the program does not count them.
        var user: Double?
        var switches: Double?
        var allocations: Double?
        var allocatedBytes: Double?
        var resident: Double
        /// The growth of the program in KiB during the load, for jobs that measure it.
        var grown: Double?
        /// The number of connects that resumed a session, over TLS.
        var resumed: Double?
        /// The heap bytes of a connection, and the growth of resident memory in bytes, for jobs that measure them.
        var heapPerConnection: Double?
        var residentPerConnection: Double?
        /// The time of the first request with its connection, if one request is made at a time.
        var first: Double?
        /// The cost of the decoder, and the cost that decoding adds to a request.
        var decoderOwn: Double?
        var decodingAdded: Double?
    }
}

/// A peer's program ended with an error, which it has printed to standard error.
struct PeerFailure: Error, CustomStringConvertible {
    let program: String
    let status: Int32

    var description: String { "\(program) ended with status \(status)" }
}
