// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

/// How much a connection may do in a turn before the loop's others run.
@Suite struct TurnAllowanceTests {
    /// After eight steps, or 5 ms, the loop's others get their turn.
    @Test func anAllowanceIsOfOneTurn() async throws {
        let clock = ManualClock()
        try await withLoop(clock: clock) { loop in
            let allowance = await loop.run { LoopBound(Kept(TurnAllowance()), on: loop) }
            func steps(_ count: Int, counting isStep: Bool = true) async -> [Bool] {
                await loop.run {
                    (0..<count).map { _ in allowance.value.value.isSpent(on: loop, counting: isStep) }
                }
            }
            #expect(await steps(8) == [false, false, false, false, false, false, false, true])
            clock.advance(by: .milliseconds(1))
            #expect(await steps(20, counting: false).allSatisfy { !$0 })
            #expect(await steps(7).allSatisfy { !$0 })
            let late = await loop.run {
                clock.advance(by: .milliseconds(5))
                return allowance.value.value.isSpent(on: loop, counting: false)
            }
            #expect(late)
        }
    }
}

/// A mutable value that is confined to a loop.
private final class Kept<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}
