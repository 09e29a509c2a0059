// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The command: arguments in, an exit code out. What it does with the world it does through its surroundings.
///
/// It is written on what every user of the library can see; its module has no access to the package's own names. `serve` and
/// `demo` need an origin server and are given to it by whoever starts it.
public struct Command: Sendable {
    /// Carries out an order that needs more than a client: `serve` and `demo`.
    public typealias Show = @Sendable (_ arguments: [String], _ context: ProcessContext) async -> Int32

    private let context: ProcessContext
    private let serve: Show?
    private let demo: Show?

    /// A command in these surroundings, with what shows the server where there is one.
    public init(_ context: ProcessContext, serve: Show? = nil, demo: Show? = nil) {
        self.context = context
        self.serve = serve
        self.demo = demo
    }

    /// Does what the arguments, without the command's own name, ask for. Returns how the process should end.
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

    /// One after the other; how the last that failed has ended is how all end.
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
