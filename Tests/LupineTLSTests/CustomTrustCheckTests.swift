// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing

@testable import LupineTLS

struct CustomTrustCheckTests {
    @Test("the stack is no deeper for the thousandth check than for the first")
    func stackDepth() throws {
        let depths = Mutex<Set<Int>>([])
        let check = CustomTrustCheck { _, _ in
            let depth = Thread.callStackReturnAddresses.count
            depths.withLock { _ = $0.insert(depth) }
        }
        let trust = try TrustFixture.trust("good")
        for _ in 0..<1_000 { check.ask(about: trust) { _ in } }
        #expect(depths.withLock { $0.count } == 1)
    }
}
