// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

/// Tests of the decisions to hold a task, in every state and with every input.
struct TaskHoldTests {
    private final class SomeTask: Sendable {}

    private static let (first, second) = (SomeTask(), SomeTask())

    private typealias Row = (
        held: SomeTask?, isFull: Bool, source: SomeTask?, decision: (task: SomeTask, isHeld: Bool)?
    )

    private static let rows: [Row] = [
        (nil, false, nil, nil), (nil, false, first, nil),
        // Without a source there is nothing to hold.
        (nil, true, nil, nil), (nil, true, first, (first, true)),
        // The held task is released, whichever task delivers.
        (first, false, nil, (first, false)), (first, false, first, (first, false)),
        (first, false, second, (first, false)),
        // A task is held once. The next attempt's task is held in place of the previous one, which has ended.
        (first, true, nil, nil), (first, true, first, nil), (first, true, second, (second, true)),
    ]

    @Test func decisions() {
        for (index, row) in Self.rows.enumerated() {
            var hold = TaskHold<SomeTask>()
            let earlier = row.held.flatMap { hold.decide(isFull: true, $0) }
            #expect((earlier != nil) == (row.held != nil))
            let decision = hold.decide(isFull: row.isFull, row.source)
            #expect(decision?.task === row.decision?.task, "\(index)")
            #expect(decision?.isHeld == row.decision?.isHeld, "\(index)")
            // Only a decision takes a number.
            #expect(decision?.number ?? 0 == (decision == nil ? 0 : (earlier?.number ?? 0) + 1), "\(index)")
        }
    }

    @Test("decisions are numbered in their order, and hold and release alternate")
    func order() {
        var hold = TaskHold<SomeTask>()
        var decisions: [TaskHold<SomeTask>.Decision] = []
        for isFull in [true, true, false, false, true, false, false, true] {
            if let decision = hold.decide(isFull: isFull, Self.first) { decisions.append(decision) }
        }
        #expect(decisions.map(\.number) == Array(1...5))
        #expect(decisions.map(\.isHeld) == [true, false, true, false, true])
    }
}
