// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What can only be seen in a process that runs nothing else: see `Probe`.
@Suite struct ProcessTests {
    @Test(arguments: ["send", "sendmsg", "sendfile", "splice"])
    func writingToAResetPeerRaisesNoSignal(_ call: String) async throws {
        try await expectSuccess(call)
    }

    @Test func ourThreadsBlockAllSignals() async throws { try await expectSuccess("signals") }

    @Test func shutdownLeavesNoDescriptorAndNoThread() async throws { try await expectSuccess("leaks") }

    @Test func theDefaultGroupAndAHungLookUpDoNotDelayTheExit() async throws {
        try await expectSuccess("exit")
    }

    private func expectSuccess(_ scenario: String) async throws {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let process = Process()
        process.executableURL = products.appendingPathComponent("lupine-transport-probe")
        process.arguments = [scenario]
        if scenario == "exit" {
            // It ends in the middle of things, on purpose: what is in use then is no leak.
            process.environment = ["ASAN_OPTIONS": "detect_leaks=0"]
        }
        try await process.runToEnd()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
    }
}

extension Process {
    /// Runs the program without keeping a thread waiting for its end.
    fileprivate func runToEnd() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            terminationHandler = { process in
                // The handler holds the process that holds the handler.
                process.terminationHandler = nil
                continuation.resume()
            }
            do { try run() } catch { continuation.resume(throwing: error) }
        }
    }
}
