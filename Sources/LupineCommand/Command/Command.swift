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
            case .help: say(HelpPage.screen())
            case .explain(let item): say(try HelpPage.page(for: item))
            case .version: say("lupine \(AFInfo.version)\n")
            case .manual: say(ManualPage.text(version: AFInfo.version))
            case .completions(let shell): say(ShellCompletion.script(for: shell))
            case .serve(let rest): return await show(serve, rest)
            case .demo(let rest): return await show(demo, rest)
            case .fetch(let invocation): return await CommandRun(invocation, context).run().rawValue
            case .series(let invocations): return await series(invocations).rawValue
            }
            return ExitCode.success.rawValue
        } catch {
            context.errors.say("lupine: \(error)\n")
            return ExitCode.usage.rawValue
        }
    }

    /// Runs the invocations one after the other. Returns the code of the last one that failed.
    private func series(_ invocations: [Invocation]) async -> ExitCode {
        var code = ExitCode.success
        for invocation in invocations {
            let ended = await CommandRun(invocation, context).run()
            if ended != .success { code = ended }
            if context.interruption.hasCome { break }
        }
        return code
    }

    private func say(_ text: String) { try? context.output.print("\(lines: text)") }

    private func show(_ show: Show?, _ arguments: [String]) async -> Int32 {
        guard let show else {
            context.errors.say("lupine: this build has no server in it\n")
            return ExitCode.usage.rawValue
        }
        return await show(arguments, context)
    }
}
