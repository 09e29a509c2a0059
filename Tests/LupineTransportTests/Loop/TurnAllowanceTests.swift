// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

/// The amount of work that a connection may do in a turn before the loop's other connections run.
@Suite struct TurnAllowanceTests {
    /// The allowance is spent after eight steps, or 5 ms.
    @Test func anAllowanceIsSpentByStepsAndTime() async throws {
        let clock = ManualClock()
        try await withLoop(clock: clock) { loop in
            let allowance = await loop.run { LoopBound(MutableValue(TurnAllowance()), on: loop) }
            func steps(_ count: Int, counting isStep: Bool = true) async -> [Bool] {
                await loop.run {
                    (0..<count).map { _ in allowance.value.value.isSpent(on: loop, counting: isStep) }
                }
            }
            #expect(await steps(8) == [false, false, false, false, false, false, false, true])
            clock.advance(by: .milliseconds(1))
            #expect(await steps(20, counting: false).allSatisfy { !$0 })
            #expect(await steps(7).allSatisfy { !$0 })
            let isSpentByTime = await loop.run {
                clock.advance(by: .milliseconds(5))
                return allowance.value.value.isSpent(on: loop, counting: false)
            }
            #expect(isSpentByTime)
        }
    }
}

/// A mutable value that is confined to a loop.
private final class MutableValue<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}
