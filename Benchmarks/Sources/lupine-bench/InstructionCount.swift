// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import Foundation

/// Counts instructions in user space with valgrind. The result does not depend on other load of the machine.
///
/// A program runs twice, with few runs of the job and with many. The difference is the cost of the job, without the program's
/// start and end. The kernel's part of a request is not included. Valgrind gets copies of the package's programs without debug
/// information, which it cannot read, and a library that works around a defect of valgrind: `Scripts/bench` makes both.
enum InstructionCount {
    /// Returns an entry for a program that loads `path`. `requests` are the numbers of the short and of the long run. Each must
    /// be more than 64 per connection, because the programs count heap requests during 64 more requests per connection.
    static func entry(
        _ name: String, _ program: PeerProgram, from server: BenchmarkServer = .plain, path: String,
        connections: Int,
        requests: (short: Int, long: Int), goals: Goals = Goals()
    ) -> Entry {
        guard let address = server.address else { return Entry(name, .absent(BenchmarkServer.absenceReason)) }
        guard program.absenceReason == nil, let file = program.file.map(stripped) else {
            return Entry(name, .absent(program.absenceReason ?? ""))
        }
        return entry(name, isOurs: program.isOurs, requests, goals: goals) { count in
            [file.path] + program.arguments + [
                address.host, address.port, path, "\(connections)", "\(count)",
            ]
        }
    }

    /// Returns an entry for a loop of this program, named group/case/entry.
    static func loop(
        _ name: String, of entry: String, isOurs: Bool = false, times: (short: Int, long: Int),
        goals: Goals = Goals()
    ) -> Entry {
        let own = stripped(URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()).path
        return Self.entry(name, isOurs: isOurs, times, goals: goals) { count in
            [own, "--loop", entry, "\(count)"]
        }
    }

    private static func entry(
        _ name: String, isOurs: Bool, _ runs: (short: Int, long: Int), goals: Goals,
        _ command: @escaping (_ count: Int) -> [String]
    ) -> Entry {
        let valgrind = PeerProgram.command("valgrind")
        guard valgrind.absenceReason == nil, let tool = valgrind.file else {
            return Entry(name, .absent("valgrind is not installed"))
        }
        return Entry(
            name, isOurs: isOurs, goals: goals,
            .report { _ in
                let clock = ContinuousClock()
                var counts: [Double] = []
                let wall = try clock.measure {
                    counts = [
                        try count(tool, command(runs.short)), try count(tool, command(runs.long)),
                    ]
                }
                return Sample(
                    count: runs.long - runs.short, wall: wall / .nanoseconds(1), processor: 0,
                    instructions: counts[1] - counts[0])
            })
    }

    /// Returns the copy of a program for valgrind, if there is one.
    private static func stripped(_ file: URL) -> URL {
        guard let folder = environment["LUPINE_BENCH_STRIPPED"] else { return file }
        let copy = URL(filePath: folder).appending(path: file.lastPathComponent)
        return FileManager.default.isExecutableFile(atPath: copy.path) ? copy : file
    }

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    private static func count(_ tool: URL, _ command: [String]) throws -> Double {
        let process = Process()
        let errors = Pipe()
        process.executableURL = tool
        process.arguments =
            ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"] + command
        process.environment = environment.merging(
            ["LD_PRELOAD": environment["LUPINE_BENCH_PRELOAD"] ?? ""]
        ) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let printed = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: printed, as: UTF8.self)
        // ==123== I   refs:      12,345,678
        guard process.terminationStatus == 0,
            let line = text.split(separator: "\n").first(where: { $0.contains(" refs:") }),
            let count = Double(line.split(separator: ":").last?.filter(\.isNumber) ?? "")
        else { throw CountFailure(command: command[0], status: process.terminationStatus, output: text) }
        return count
    }

    /// Thrown if valgrind, or the program that it has run, fails.
    private struct CountFailure: Error, CustomStringConvertible {
        let command: String
        let status: Int32
        let output: String

        var description: String {
            "\(command) under valgrind ended with status \(status): \(output.suffix(400))"
        }
    }
}
