// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// What can only be counted in a process that runs nothing else: see `Tests/OriginProbe`.
@Suite struct LeakTests {
    @Test func shutdownLeavesNoDescriptorAndNoThread() throws {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let process = Process()
        process.executableURL = products.appendingPathComponent("lupine-origin-probe")
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(text)")
        #expect(process.terminationStatus == 0, "\(text)")
    }
}
