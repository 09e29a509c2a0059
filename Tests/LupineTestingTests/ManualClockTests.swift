// SPDX-License-Identifier: MIT

import Foundation
import LupineTesting
import Testing

/// Tests of a manual clock and of code that waits for it by the standard library's `Clock`.
@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
    /// Returns a task that sleeps that many seconds and returns their number.
    private func sleeper(_ seconds: Int, _ clock: any Clock<Duration>) -> Task<Int, any Error> {
        Task {
            try await clock.sleep(for: .seconds(seconds))
            return seconds
        }
    }

    @Test func sleepersWakeOneAfterTheOther() async throws {
        let clock = ManualClock()
        let sleepers = [3, 1, 2, 2].map { sleeper($0, clock) }
        try await clock.untilWaiting(4)
        for (index, left) in [(1, 3), (2, 1), (0, 0)] {
            #expect(try await clock.advanceToNext() == .seconds(1))
            #expect(clock.waitingCount == left)
            _ = try await sleepers[index].value
        }
        #expect(try await sleepers[3].value == 2)
        #expect(clock.now.elapsed == .seconds(3))
    }

    @Test func oneMoveWakesAllThatAreDue() async throws {
        let clock = ManualClock()
        let sleepers = [1, 5, 6].map { sleeper($0, clock) }
        try await clock.untilWaiting(3)
        clock.advance(by: .seconds(5))
        #expect(clock.waitingCount == 1)
        #expect(try await sleepers[0].value == 1)
        #expect(try await sleepers[1].value == 5)
        clock.advance(by: .milliseconds(999))
        #expect(clock.waitingCount == 1)
        #expect(try await clock.advanceToNext() == .milliseconds(1))
        #expect(try await sleepers[2].value == 6)
    }

    @Test func aMomentThatHasPassedIsNotWaitedFor() async throws {
        let clock = ManualClock()
        let start = clock.now
        clock.advance(by: .seconds(2))
        clock.advance(by: .seconds(-1))
        #expect(clock.now == start.advanced(by: .seconds(2)) && clock.waitingCount == 0)
        try await clock.sleep(until: clock.now)
        try await clock.sleep(until: start)
        try await clock.sleep(for: .seconds(-1))
        #expect(start < clock.now && start.duration(to: clock.now) == .seconds(2))
    }

    @Test func theDateGoesAlongInWholeSecondsAtFirst() {
        let clock = ManualClock(date: Date(timeIntervalSince1970: 784_111_777.9))
        #expect(clock.date == Date(timeIntervalSince1970: 784_111_777))
        clock.advance(by: .milliseconds(1_500))
        #expect(clock.date == Date(timeIntervalSince1970: 784_111_778.5))
        #expect(clock.minimumResolution == .nanoseconds(1))
        // A time out of range becomes the last one that the clock can represent.
        clock.advance(by: .seconds(Int64.max))
        clock.advance(by: .seconds(1))
        #expect(clock.now.elapsed > .seconds(9_000_000_000))
    }

    @Test func whoWaitsCanBeCancelled() async throws {
        let clock = ManualClock()
        let sleeper = sleeper(1, clock)
        try await clock.untilWaiting()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.waitingCount == 0)
        let (watcher, mover) = (
            Task { try await clock.untilWaiting() }, Task { try await clock.advanceToNext() }
        )
        watcher.cancel()
        mover.cancel()
        await #expect(throws: CancellationError.self) { try await watcher.value }
        await #expect(throws: CancellationError.self) { try await mover.value }
        #expect(clock.now.elapsed == .zero)
    }

    @Test func movesFromSeveralTasksAddUp() async throws {
        let clock = ManualClock()
        let sleepers = (1...100).map { sleeper($0, clock) }
        try await clock.untilWaiting(100)
        await withTaskGroup { group in
            for _ in 1...100 { group.addTask { clock.advance(by: .seconds(1)) } }
        }
        #expect(clock.now.elapsed == .seconds(100))
        for (index, sleeper) in sleepers.enumerated() { #expect(try await sleeper.value == index + 1) }
    }
}
