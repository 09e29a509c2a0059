// SPDX-License-Identifier: MIT

import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of the identifiers of living delegates.
@Suite struct ObjectTokenTests {
    private final class Delegate: Sendable {}

    @Test func aLivingObjectKeepsItsToken() {
        let (one, other) = (Delegate(), Delegate())
        let token = ObjectToken(of: one)
        #expect(ObjectToken(of: one) == token && ObjectToken(of: other) != token)
    }

    /// Creates objects one after the other, mostly at the same address.
    @Test func noTokenIsGivenTwice() {
        var tokens: Set<ObjectToken> = []
        for _ in 0..<10_000 {
            let one = Delegate()
            #expect(tokens.insert(ObjectToken(of: one)).inserted)
        }
    }

    @Test func aTokenKeepsNothingAlive() {
        weak var gone: Delegate?
        do {
            let one = Delegate()
            gone = one
            _ = ObjectToken(of: one)
        }
        #expect(gone == nil)
    }

    /// Tokens of dead objects are removed while others get theirs; a delegate that is released meanwhile may request another
    /// token.
    @Test func concurrentThreads() async {
        final class Chain: Sendable {
            let after: Int
            init(after: Int) { self.after = after }
            deinit { if after > 0 { _ = ObjectToken(of: Chain(after: after - 1)) } }
        }
        let tokens = await withTaskGroup(of: [ObjectToken].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<500).map { ObjectToken(of: Chain(after: $0 % 3)) } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(tokens).count == tokens.count)
    }
}
