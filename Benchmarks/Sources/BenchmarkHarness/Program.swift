// SPDX-License-Identifier: MIT
internal import FoundationEssentials

/// The main of a benchmark program: reads the command line, runs what it names, prints and writes the results.
package struct Program {
    private let groups: [BenchmarkGroup]

    package init(_ groups: [BenchmarkGroup]) {
        self.groups = groups
    }

    /// The exit status: 0, 1 when `--check` found a goal missed, 2 for a command line that cannot be used, 3 when an
    /// entry failed.
    package func run(_ arguments: [String]) async -> Int32 {
        do {
            return try await run(Options(arguments))
        } catch let error as UsageError {
            print("lupine-bench: \(error.message)\n\(Options.help)")
            return 2
        } catch {
            print("lupine-bench: \(error)")
            return 3
        }
    }

    private func run(_ options: Options) async throws -> Int32 {
        if options.helps {
            print(Options.help)
            return 0
        }
        for name in options.groups where !groups.contains(where: { $0.name == name }) {
            let known = groups.map(\.name).joined(separator: ", ")
            throw UsageError(message: "no group \(name); there are: \(known)")
        }
        let chosen = groups.filter { options.groups.isEmpty || options.groups.contains($0.name) }
        if options.lists {
            for group in chosen {
                print("\(group.name): \(group.summary)")
                for job in try group.cases() { print("  \(group.name)/\(job.name)") }
            }
            return 0
        }
        let earlier = try options.compare.map(Program.read)
        var report = Report(machine: Program.machine, entries: [])
        print(report.machine)
        let runner = Runner(options.isQuick ? .quick : .full)
        for group in chosen {
            for job in try group.cases() where matches(options.filter, "\(group.name)/\(job.name)") {
                let results = try await runner.run(job, group: group.name)
                report.entries += results
                print("\n" + Presentation.lines(results).joined(separator: "\n"))
            }
        }
        if let earlier {
            print("\n" + Presentation.changes(from: earlier, to: report).joined(separator: "\n"))
        }
        if let path = options.json { try Program.write(report, to: path) }
        let missed = report.entries.filter { !$0.missedGoals.isEmpty }
        if options.checks, !missed.isEmpty {
            for result in missed {
                print("missed: \(result.identifier): \(result.missedGoals.joined(separator: ", "))")
            }
            return 1
        }
        return 0
    }

    private func matches(_ filter: String?, _ name: String) -> Bool {
        filter.map { name.contains($0) } ?? true
    }

    /// Reads a report that `write` wrote.
    package static func read(_ path: String) throws -> Report {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw UsageError(message: "cannot read \(path)")
        }
        do {
            return try JSONDecoder().decode(Report.self, from: data)
        } catch {
            throw UsageError(message: "\(path) is not a report of this program: \(error)")
        }
    }

    /// Writes a report as JSON with sorted keys, so that two reports can be diffed.
    package static func write(_ report: Report, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        do {
            try encoder.encode(report).write(to: URL(filePath: path))
        } catch {
            throw UsageError(message: "cannot write \(path): \(error)")
        }
    }

    /// Processor, cores and kernel in one line.
    private static var machine: String {
        let cpu = (try? String(contentsOf: URL(filePath: "/proc/cpuinfo"), encoding: .utf8)) ?? ""
        let model = cpu.split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = model.flatMap { $0.split(separator: ":").last }.map { String($0.drop { $0 == " " }) }
        let kernel =
            (try? String(contentsOf: URL(filePath: "/proc/sys/kernel/osrelease"), encoding: .utf8)) ?? ""
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return "\(name ?? "unknown processor"), \(cores) cores, Linux \(kernel.filter { !$0.isNewline })"
    }
}
