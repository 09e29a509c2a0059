// SPDX-License-Identifier: MIT

import Foundation
public import LupineCommand
import LupineOrigin

/// `lupine demo`: shows the library's features in under a minute, against origins in this process.
public enum Demo {
    /// The acts in the order in which they run.
    static let acts: [any DemoAct.Type] = [
        TypedAct.self, ValidationAct.self, RetryAct.self, RefreshAct.self, UploadAct.self, ResumeAct.self,
        CodingAct.self, PinningAct.self, StreamAct.self, TimingAct.self,
    ]

    /// Runs all acts, and ignores the arguments. Returns the exit status of the process.
    public static func run(_ arguments: [String], _ context: ProcessContext) async -> Int32 {
        do {
            let demo = try DemoContext(context)
            demo.say("An origin answers at \(demo.origin.url), another at \(demo.secureOrigin.url).\n")
            demo.say("`session` is a Session(configuration: .ephemeral), `root` the address of the first.\n")
            // The origins are shut down after a failure, too.
            var failure: (any Error)?
            do { try await show(demo) } catch { failure = error }
            await demo.shutDown()
            if let failure { throw failure }
            return ExitCode.success.rawValue
        } catch {
            context.errors.say("lupine demo: it did not come out: \(String(describing: error))\n")
            return ExitCode.failure.rawValue
        }
    }

    /// Runs the acts one after the other, then prints the number of requests and connections.
    private static func show(_ demo: DemoContext) async throws {
        let clock = ContinuousClock()
        let startTime = clock.now
        for (index, act) in acts.enumerated() {
            // While an act runs a command, Ctrl-C ends only the command. At any other time it ends the process.
            if demo.context.interruption.hasOccurred { throw DemoFailure(description: "interrupted") }
            demo.printTitle(index + 1, act.title)
            demo.printCode(act.code)
            try await act.run(in: demo)
        }
        let first = demo.origin.counts
        let second = demo.secureOrigin.counts
        let requests = first.requests + second.requests
        let connections = first.connectionsAccepted + second.connectionsAccepted
        // Rounded to one decimal place.
        let seconds = ((clock.now - startTime) / .seconds(1) * 10).rounded() / 10
        demo.printTitle(acts.count + 1, "Summary")
        demo.printResult("\(requests) requests over \(connections) connections in \(seconds) s")
        demo.printResult(
            "the first origin had \(first.requests) requests on \(first.connectionsAccepted) connections:")
        // Each connection was opened for one request; all other requests used an open one.
        demo.printResult(
            "\(first.requests - first.connectionsAccepted) of them went out on one that was there already")
        try demo.require(first.requests > first.connectionsAccepted, "connections are used again")
    }
}
