// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The command line tool: takes arguments and returns an exit code. It reaches the environment, files and terminal only through a
/// `ProcessContext`.
///
/// It uses only the public API of the library; its module has no access to `package` declarations. `serve` and `demo` need an
/// origin server, so the caller passes them in.
public struct Command: Sendable {
    /// Runs a subcommand that needs more than a client: `serve` or `demo`.
    public typealias Show = @Sendable (_ arguments: [String], _ context: ProcessContext) async -> Int32

    private let context: ProcessContext
    private let serve: Show?
    private let demo: Show?

    /// Creates a command in a context, with the implementations of `serve` and `demo` if this build has them.
    public init(_ context: ProcessContext, serve: Show? = nil, demo: Show? = nil) {
        self.context = context
        self.serve = serve
        self.demo = demo
    }

    /// Runs the command. `arguments` do not include the command's own name. Returns the exit status of the process.
    public func run(_ arguments: [String]) async -> Int32 {
        do throws(UsageError) {
            switch try CommandLineReader.read(arguments) {
            case .help: printText(HelpPage.screen())
            case .explain(let item): printText(try HelpPage.page(for: item))
            case .version: printText("lupine \(AFInfo.version)\n")
            case .manual: printText(ManualPage.text(version: AFInfo.version))
            case .completions(let shell): printText(ShellCompletion.script(for: shell))
            case .serve(let arguments): return await runSubcommand(serve, arguments)
            case .demo(let arguments): return await runSubcommand(demo, arguments)
            case .fetch(let invocation): return await CommandRun(invocation, context).run().rawValue
            case .series(let invocations): return await runSeries(invocations).rawValue
            }
            return ExitCode.success.rawValue
        } catch {
            context.errors.say("lupine: \(error)\n")
            return ExitCode.usage.rawValue
        }
    }

    /// Runs the requests that --next separates, one after the other. Returns the code of the last one that failed.
    private func runSeries(_ invocations: [Invocation]) async -> ExitCode {
        var seriesCode = ExitCode.success
        for invocation in invocations {
            let code = await CommandRun(invocation, context).run()
            if code != .success { seriesCode = code }
            if context.interruption.hasOccurred { break }
        }
        return seriesCode
    }

    private func printText(_ text: String) { try? context.output.print("\(lines: text)") }

    /// Runs `serve` or `demo`; fails if this build does not have it.
    private func runSubcommand(_ subcommand: Show?, _ arguments: [String]) async -> Int32 {
        guard let subcommand else {
            context.errors.say("lupine: this build has no server in it\n")
            return ExitCode.usage.rawValue
        }
        return await subcommand(arguments, context)
    }
}
