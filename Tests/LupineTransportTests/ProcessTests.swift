// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What can only be seen in a process that runs nothing else: see `Probe`.
@Suite struct ProcessTests {
    @Test(arguments: ["send", "sendmsg", "sendfile", "splice"])
    func writingToAResetPeerRaisesNoSignal(_ call: String) throws {
        try expectSuccess(call)
    }

    @Test func ourThreadsBlockAllSignals() throws { try expectSuccess("signals") }

    @Test func shutdownLeavesNoDescriptorAndNoThread() throws { try expectSuccess("leaks") }

    @Test func theDefaultGroupAndAHungLookUpDoNotDelayTheExit() throws { try expectSuccess("exit") }

    private func expectSuccess(_ scenario: String) throws {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let process = Process()
        process.executableURL = products.appendingPathComponent("lupine-transport-probe")
        process.arguments = [scenario]
        let output = Pipe()
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(text)")
        #expect(process.terminationStatus == 0, "\(text)")
    }
}
