// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

/// Tests that each need a separate process, which runs nothing else: see `Probe`.
@Suite struct ProcessTests {
    @Test(arguments: ["send", "sendmsg", "sendfile", "splice"])
    func writingToAResetPeerRaisesNoSignal(_ call: String) async throws {
        try await expectSuccess(call)
    }

    @Test func lupinesThreadsBlockAllSignals() async throws { try await expectSuccess("signals") }

    @Test func shutdownLeavesNoDescriptorAndNoThread() async throws { try await expectSuccess("leaks") }

    @Test func clientsLeaveNoDescriptorAndNoThreadWhateverTheyMeet() async throws {
        try await expectSuccess("stack")
    }

    @Test func theDefaultGroupAndAHungLookUpDoNotDelayTheExit() async throws {
        try await expectSuccess("exit")
    }

    private func expectSuccess(_ scenario: String) async throws {
        let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        // One scenario exits in the middle of its work on purpose: what is in use then is not a leak.
        let end = try await Program.run(
            products.joined(separator: "/") + "/lupine-transport-probe", [scenario],
            variables: scenario == "exit" ? ["ASAN_OPTIONS": "detect_leaks=0"] : [:])
        #expect(end == .exited(0))
    }
}
