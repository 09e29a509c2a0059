// SPDX-License-Identifier: MIT
internal import FoundationEssentials

/// The main program of the benchmarks: parses the command line, runs the selected groups, prints and writes the results.
package struct Program {
    private let groups: [BenchmarkGroup]

    package init(_ groups: [BenchmarkGroup]) {
        self.groups = groups
    }

    /// Runs the program and returns the exit status: 0; 1 if `--check` found a missed goal or an exceeded budget; 2 for an
    /// unusable command line; 3 if an entry failed.
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
        if options.showsHelp {
            print(Options.help)
            return 0
        }
        for name in options.groups where !groups.contains(where: { $0.name == name }) {
            let known = groups.map(\.name).joined(separator: ", ")
            throw UsageError(message: "no group \(name); there are: \(known)")
        }
        let chosen = groups.filter { options.groups.isEmpty || options.groups.contains($0.name) }
        if options.listsCases {
            for group in chosen {
                print("\(group.name): \(group.summary)")
                for job in try group.cases() { print("  \(group.name)/\(job.name)") }
            }
            return 0
        }
        if let loop = options.loop {
            return try await runLoop(loop.entry, times: loop.times, in: chosen)
        }
        let earlier = try options.compare.map { try Program.read(Report.self, $0) }
        let budget = try options.budget.map { try Program.read(Budget.self, $0) }
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
        try write(report, options)
        if let budget {
            let verdict = budget.check(report)
            print("\n" + verdict.lines.joined(separator: "\n"))
            if !verdict.isKept { return 1 }
        }
        let missed = report.entries.filter { !$0.missedGoals.isEmpty }
        if options.checksGoals, !missed.isEmpty {
            for result in missed {
                print("missed: \(result.identifier): \(result.missedGoals.joined(separator: ", "))")
            }
            return 1
        }
        return 0
    }

    /// Runs one entry the given number of times. A caller that counts instructions from outside does this twice and takes the
    /// difference.
    private func runLoop(_ name: String, times: Int, in groups: [BenchmarkGroup]) async throws -> Int32 {
        for group in groups where name.hasPrefix("\(group.name)/") {
            for job in try group.cases() where name.hasPrefix("\(group.name)/\(job.name)/") {
                for entry in job.entries where name == "\(group.name)/\(job.name)/\(entry.name)" {
                    switch entry.body {
                    case .loop(let body): try body(times)
                    case .asyncLoop(let body): try await body(times)
                    case .report, .absent: throw UsageError(message: "\(name) is no loop that runs here")
                    }
                    return 0
                }
            }
        }
        throw UsageError(message: "no entry \(name)")
    }

    /// Writes the files that the command line requests.
    private func write(_ report: Report, _ options: Options) throws {
        if let path = options.json { try Program.write(report, to: path) }
        if let path = options.newBudget { try Program.write(Budget(report, margin: 0.25), to: path) }
        if let folder = options.charts {
            for name in report.groups {
                let chart = Chart(name, report.entries.filter { $0.group == name })
                try Program.write(text: chart.svg, to: "\(folder)/\(name).svg")
            }
        }
        if let path = options.markdown {
            try Program.write(text: MarkdownReport(report).text, to: path)
        }
    }

    private func matches(_ filter: String?, _ name: String) -> Bool {
        filter.map { name.contains($0) } ?? true
    }

    /// Reads a report or a budget from a file that `write` has written.
    package static func read<Document: Decodable>(_ type: Document.Type, _ path: String) throws -> Document {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw UsageError(message: "cannot read \(path)")
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw UsageError(message: "\(path) is no \(type) of this program: \(error)")
        }
    }

    /// Writes a document as JSON with sorted keys, so that two files can be compared with diff.
    package static func write(_ document: some Encodable, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(document)
        try write(text: String(decoding: data, as: UTF8.self) + "\n", to: path)
    }

    /// Writes a text to a file, and creates its folder if necessary.
    private static func write(text: String, to path: String) throws {
        let file = URL(filePath: path)
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        } catch {
            throw UsageError(message: "cannot write \(path): \(error)")
        }
    }

    /// The processor, the number of cores and the kernel in one line.
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
