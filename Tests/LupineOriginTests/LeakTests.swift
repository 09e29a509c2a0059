// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

/// Tests of counts that need a process of their own: see `Tests/Probes/Origin`.
@Suite struct LeakTests {
    @Test func shutdownLeavesNoDescriptorAndNoThread() async throws {
        let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        let end = try await Program.run(products.joined(separator: "/") + "/lupine-origin-probe")
        #expect(end == .exited(0))
    }
}
