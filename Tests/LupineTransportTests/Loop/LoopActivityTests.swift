// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

struct LoopActivityTests {
    /// What a loop does, in milliseconds, in this order; it ends with a wait that continues.
    struct Row: CustomTestStringConvertible {
        let what: String
        let turns: [(works: Int64, waits: Int64)]
        /// How long the last wait has lasted when the loop's activity is queried.
        var since: Int64 = 0
        let isBusy: Bool
        var testDescription: String { what }
    }

    static let rows = [
        Row(what: "nothing yet", turns: [], isBusy: false),
        Row(what: "too short a time to tell", turns: [(4, 0)], isBusy: false),
        Row(what: "a window of work", turns: [(3, 0), (3, 0)], isBusy: true),
        Row(what: "more work than waiting", turns: [(2, 1), (2, 1)], isBusy: true),
        Row(what: "half and half", turns: [(2, 1), (1, 2)], isBusy: false),
        Row(what: "more waiting than work", turns: [(1, 2), (1, 2)], isBusy: false),
        Row(what: "busy before, not in the last window", turns: [(6, 0), (1, 6)], isBusy: false),
        Row(what: "idle before, busy in the last window", turns: [(0, 60), (6, 0)], isBusy: true),
        Row(what: "busy, and waiting for less than a window", turns: [(6, 0)], since: 4, isBusy: true),
        Row(what: "busy, and waiting for a window since", turns: [(6, 0)], since: 5, isBusy: false),
    ]

    @Test(arguments: rows) func busyIsWhoWorksForMoreThanHalfOfAWindow(row: Row) {
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

    @Test func whoHasNotComeBackFromItsWorkIsBusyIfItWas() {
        let start = Instant(nanoseconds: 0)
        let activity = LoopActivity(now: start)
        activity.didWait(at: start)
        let later = start.advanced(by: .milliseconds(6))
        activity.willWait(at: later)
        activity.didWait(at: later)
        #expect(activity.isBusy(at: later.advanced(by: .seconds(1))))
    }
}
