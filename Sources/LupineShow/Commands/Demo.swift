// SPDX-License-Identifier: MIT

import Foundation
public import LupineCommand
import LupineOrigin

/// `lupine demo`: shows the library's features in under a minute, against origins in this process.
public enum Demo {
    static let acts: [any DemoAct.Type] = [
        TypedAct.self, ValidationAct.self, RetryAct.self, RefreshAct.self, UploadAct.self, ResumeAct.self,
        CodingAct.self, PinningAct.self, StreamAct.self, TimingAct.self,
    ]

    /// Runs all acts. Returns the exit status of the process.
    public static func run(_ arguments: [String], _ context: ProcessContext) async -> Int32 {
        do {
            let stage = try DemoStage(context)
            stage.say("An origin answers at \(stage.origin.url), another at \(stage.secureOrigin.url).\n")
            stage.say("`session` is a Session(configuration: .ephemeral), `root` the address of the first.\n")
            var failure: (any Error)?
            do { try await show(stage) } catch { failure = error }
            await stage.end()
            if let failure { throw failure }
            return ExitCode.success.rawValue
        } catch {
            context.errors.say("lupine demo: it did not come out: \(String(describing: error))\n")
            return ExitCode.failure.rawValue
        }
    }

    private static func show(_ stage: DemoStage) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        for (index, act) in acts.enumerated() {
            if stage.context.interruption.hasCome { throw DemoFailure(description: "interrupted") }
            stage.title(index + 1, act.title)
            stage.code(act.code)
            try await act.run(on: stage)
        }
        let plain = stage.origin.counts
        let secure = stage.secureOrigin.counts
        let requests = plain.requests + secure.requests
        let connections = plain.connectionsAccepted + secure.connectionsAccepted
        let seconds = ((clock.now - start) / .seconds(1) * 10).rounded() / 10
        stage.title(acts.count + 1, "Summary")
        stage.tell("\(requests) requests over \(connections) connections in \(seconds) s")
        stage.tell(
            "the first origin had \(plain.requests) requests on \(plain.connectionsAccepted) connections:")
        stage.tell(
            "\(plain.requests - plain.connectionsAccepted) of them went out on one that was there already")
        try stage.require(plain.requests > plain.connectionsAccepted, "connections are used again")
    }
}
