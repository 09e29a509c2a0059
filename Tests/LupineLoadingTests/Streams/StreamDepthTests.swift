// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// The depth of the stack: it is no deeper in the callback for the last piece of a stream than for the first.
struct StreamDepthTests {
    /// The stack depths of the calls.
    private final class Depths: Sendable {
        private let seen = Lock<Set<Int>>([])

        var count: Int { seen.withLock { $0.count } }

        func record() {
            let depth = Thread.callStackReturnAddresses.count
            seen.withLock { _ = $0.insert(depth) }
        }
    }

    @Test("the reader of a body is notified of its pieces")
    func pieces() {
        let depths = Depths()
        let buffer = ContentBuffer(resume: {})
        buffer.setReadyHandler { depths.record() }
        for _ in 0..<1_000 { buffer.put(Data([1])) }
        #expect(depths.count == 1)
    }

    @Test("handlers of a stream task are called on the delegate queue")
    func answers() {
        let depths = Depths()
        let core = StreamCore()
        core.setPoster { _ in depths.record() }
        for _ in 0..<1_000 { core.post {} }
        #expect(depths.count == 1)
    }
}
