// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The command line tool: takes arguments and returns an exit code. It reaches the environment, files and terminal only through a
/// `ProcessContext`.
///
/// It uses only the public API of the library: its module has no access to `package` declarations. The subcommands `serve` and
/// `demo` need a server, which is in another module, so the caller passes them to the initializer.
public struct Command: Sendable {
    /// Runs the subcommand `serve` or `demo` with its arguments. Returns the exit status of the process.
    public typealias Subcommand = @Sendable (_ arguments: [String], _ context: ProcessContext) async -> Int32

    private let context: ProcessContext
    private let serve: Subcommand?
    private let demo: Subcommand?

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - context: The environment, files and terminal of the process.
    ///   - serve: The implementation of `serve`; nil if this build has none.
    ///   - demo: The implementation of `demo`; nil if this build has none.
    public init(_ context: ProcessContext, serve: Subcommand? = nil, demo: Subcommand? = nil) {
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

    /// Runs the invocations that --next separates, one after the other. Returns the code of the last invocation that failed. If
    /// the user interrupts the command, the remaining invocations do not run.
    private func runSeries(_ invocations: [Invocation]) async -> ExitCode {
        var lastFailure = ExitCode.success
        for invocation in invocations {
            let code = await CommandRun(invocation, context).run()
            if code != .success { lastFailure = code }
            if context.interruption.hasOccurred { break }
        }
        return lastFailure
    }

    /// Prints text on the standard output, with its line breaks (`lines:`). Ignores errors, such as that of a closed pipe.
    private func printText(_ text: String) { try? context.output.print("\(lines: text)") }

    /// Runs `serve` or `demo`, and returns the exit status. Prints an error if this build does not have the subcommand.
    private func runSubcommand(_ subcommand: Subcommand?, _ arguments: [String]) async -> Int32 {
        guard let subcommand else {
            context.errors.say("lupine: this build has no server in it\n")
            return ExitCode.usage.rawValue
        }
        return await subcommand(arguments, context)
    }
}
