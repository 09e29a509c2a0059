// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

struct LoopActivityTests {
    /// The activity of a loop, in milliseconds: turns of work and waits. The last wait continues.
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let turns: [(works: Int64, waits: Int64)]
        /// The time since the last turn when the loop's activity is queried.
        var since: Int64 = 0
        let isBusy: Bool
    }

    static let rows = [
        Row(testDescription: "nothing yet", turns: [], isBusy: false),
        Row(testDescription: "too short a time to tell", turns: [(4, 0)], isBusy: false),
        Row(testDescription: "a window of work", turns: [(3, 0), (3, 0)], isBusy: true),
        Row(testDescription: "more work than waiting", turns: [(2, 1), (2, 1)], isBusy: true),
        Row(testDescription: "half and half", turns: [(2, 1), (1, 2)], isBusy: false),
        Row(testDescription: "more waiting than work", turns: [(1, 2), (1, 2)], isBusy: false),
        Row(testDescription: "busy before, not in the last window", turns: [(6, 0), (1, 6)], isBusy: false),
        Row(testDescription: "idle before, busy in the last window", turns: [(0, 60), (6, 0)], isBusy: true),
        Row(
            testDescription: "busy, and waiting for less than a window", turns: [(6, 0)], since: 4,
            isBusy: true),
        Row(
            testDescription: "busy, and waiting for a window", turns: [(6, 0)], since: 5, isBusy: false),
    ]

    @Test(arguments: rows) func aLoopIsBusyIfItWorksForMoreThanHalfOfAWindow(row: Row) {
        let began = Instant(nanoseconds: 77)
        var now = began
        let activity = LoopActivity(now: now)
        activity.didWait(at: now)
        for turn in row.turns {
            now = now.advanced(by: .milliseconds(turn.works))
            activity.willWait(at: now)
            now = now.advanced(by: .milliseconds(turn.waits))
            activity.didWait(at: now)
        }
        activity.willWait(at: now)
        #expect(activity.isBusy(at: now.advanced(by: .milliseconds(row.since))) == row.isBusy)
    }

    @Test func aBusyLoopStaysBusyDuringALongTurn() {
        let start = Instant(nanoseconds: 0)
        let activity = LoopActivity(now: start)
        activity.didWait(at: start)
        let later = start.advanced(by: .milliseconds(6))
        activity.willWait(at: later)
        activity.didWait(at: later)
        #expect(activity.isBusy(at: later.advanced(by: .seconds(1))))
    }
}
