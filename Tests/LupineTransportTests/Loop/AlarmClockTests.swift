// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

/// Alarms on a manual clock, which the loop reads when it is woken.
struct AlarmClockTests {
    private final class FiredAlarms: Sendable {
        private let names = Lock([String]())
        func note(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    private struct Stage {
        let clock = ManualClock()
        let fired = FiredAlarms()
        let group: EventLoopGroup
        let alarms: AlarmClock
        let start: Instant

        init() throws {
            start = clock.now()
            group = try EventLoopGroup(count: 1, name: "alarms", clock: clock)
            alarms = AlarmClock { [group] in group.loops[0] }
        }

        @discardableResult
        func set(_ name: String, at seconds: Int) -> @Sendable () -> Void {
            let moment = start.advanced(by: .seconds(seconds))
            return alarms.set(at: moment) { [fired] in fired.note(name) }
        }

        /// Advances the clock, and returns once the loop has fired the alarms that are due.
        func move(to seconds: Int) async {
            await turn()
            clock.advance(by: .nanoseconds(start.nanoseconds - clock.now().nanoseconds) + .seconds(seconds))
            // Timers run after the submitted work: the second turn begins after those of the first.
            await turn()
            await turn()
        }

        private func turn() async {
            await withCheckedContinuation { done in
                #expect(group.loops[0].execute { done.resume() })
            }
        }
    }

    /// Notes its name when it is released.
    private final class Witness: Sendable {
        private let name: String
        private let fired: FiredAlarms

        init(_ name: String, _ fired: FiredAlarms) { (self.name, self.fired) = (name, fired) }

        deinit { fired.note(name) }
    }

    @Test("an alarm is released when it has run, before the next one that is due runs")
    func release() async throws {
        let stage = try Stage()
        for name in ["a", "b"] {
            let witness = Witness("release of \(name)", stage.fired)
            _ = stage.alarms.set(at: stage.start.advanced(by: .seconds(10))) { [fired = stage.fired] in
                withExtendedLifetime(witness) { fired.note(name) }
            }
        }
        await stage.move(to: 10)
        #expect(stage.fired.all == ["a", "release of a", "b", "release of b"])
    }

    @Test("the loop has a timer for each alarm that was the earliest when set, and none after them")
    func timersOfTheLoop() async throws {
        let stage = try Stage()
        func timers() async -> Int {
            let loop = stage.group.loops[0]
            return await withCheckedContinuation { done in
                #expect(loop.execute { done.resume(returning: loop.timerCount) })
            }
        }
        for second in [20, 30, 10] { stage.set("\(second)", at: second) }
        #expect(await timers() == 2 && stage.alarms.timerCount == 2 && stage.alarms.count == 3)
        await stage.move(to: 10)
        // The timer at 20 was set at the beginning, and again after the alarm at 10.
        #expect(await timers() == stage.alarms.timerCount && stage.alarms.count == 2)
        await stage.move(to: 30)
        #expect(await timers() == 0 && stage.alarms.timerCount == 0 && stage.alarms.count == 0)
        stage.set("40", at: 40)()
        #expect(await timers() == 1 && stage.alarms.timerCount == 1 && stage.alarms.count == 0)
        await stage.move(to: 40)
        #expect(await timers() == 0 && stage.alarms.timerCount == 0)
        await stage.group.shutdown()
    }

    @Test("alarms fire in the order of their times, whatever the order in which they were set")
    func order() async throws {
        let stage = try Stage()
        for second in [30, 10, 20, 10] { stage.set("\(second)", at: second) }
        await stage.move(to: 9)
        #expect(stage.fired.all.isEmpty)
        await stage.move(to: 10)
        #expect(stage.fired.all == ["10", "10"])
        await stage.move(to: 25)
        stage.set("27", at: 27)
        #expect(stage.fired.all == ["10", "10", "20"])
        await stage.move(to: 40)
        #expect(stage.fired.all == ["10", "10", "20", "27", "30"])
        #expect(stage.alarms.count == 0)
        await stage.group.shutdown()
    }

    @Test("a cancelled alarm does not fire, and the others do")
    func cancelledAlarms() async throws {
        let stage = try Stage()
        let first = stage.set("first", at: 10)
        let second = stage.set("second", at: 20)
        stage.set("third", at: 30)
        first()
        await stage.move(to: 15)
        #expect(stage.fired.all.isEmpty && stage.alarms.count == 2)
        second()
        second()
        await stage.move(to: 60)
        #expect(stage.fired.all == ["third"])
        first()
        #expect(stage.alarms.count == 0)
        await stage.group.shutdown()
    }

    @Test("an alarm set for the past fires soon")
    func past() async throws {
        let stage = try Stage()
        await stage.move(to: 50)
        stage.set("late", at: 10)
        await stage.move(to: 50)
        #expect(stage.fired.all == ["late"])
        await stage.group.shutdown()
    }

    @Test("an alarm that fires may set another")
    func alarmsThatSetAlarms() async throws {
        let stage = try Stage()
        let moment = stage.start.advanced(by: .seconds(5))
        _ = stage.alarms.set(at: moment) { stage.set("second", at: 7) }
        await stage.move(to: 6)
        #expect(stage.fired.all.isEmpty)
        await stage.move(to: 7)
        #expect(stage.fired.all == ["second"])
        await stage.group.shutdown()
    }

    @Test("a thread fires the alarms until there is a loop, which fires the later ones")
    func withoutLoop() async throws {
        let loop = Lock<EventLoop?>(nil)
        let alarms = AlarmClock { loop.withLock { $0 } }
        let fired = FiredAlarms()
        let start = MonotonicClock().now()
        // It is due so late that it is cancelled before, however busy the machine is; the count shows its removal.
        let cancel = alarms.set(at: start.advanced(by: .seconds(3_600))) { fired.note("taken back") }
        cancel()
        // Set in the order in which they are due, so that they fire in this order whenever the thread runs.
        await withCheckedContinuation { done in
            _ = alarms.set(at: start) { fired.note("first") }
            _ = alarms.set(at: start.advanced(by: .milliseconds(30))) { fired.note("second") }
            _ = alarms.set(at: start.advanced(by: .milliseconds(60))) { done.resume() }
        }
        #expect(fired.all == ["first", "second"])
        #expect(alarms.count == 0 && alarms.timerCount == 0)

        let group = try EventLoopGroup(count: 1, name: "alarms")
        let cancelDistant = alarms.set(at: start.advanced(by: .seconds(3_600))) { fired.note("far") }
        loop.withLock { $0 = group.loops[0] }
        // The thread moves its alarms to the loop, and ends.
        while alarms.timerCount == 0 { await Task.yield() }
        let isOnLoop = await withCheckedContinuation { done in
            _ = alarms.set(at: start) { done.resume(returning: group.loops[0].isOnLoop) }
        }
        cancelDistant()
        #expect(isOnLoop)
        await group.shutdown()
    }
}
