// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

/// Alarms on a manual clock, which the loop reads when it is woken.
struct AlarmClockTests {
    private final class Rung: Sendable {
        private let names = Lock([String]())
        func note(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    private struct Stage {
        let clock = ManualClock()
        let rung = Rung()
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
            return alarms.set(at: moment) { [rung] in rung.note(name) }
        }

        /// Moves the clock, and returns once the loop has run what is due.
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

    @Test("the loop has one timer for each moment that was the earliest, and none when they have come")
    func looks() async throws {
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

    @Test("alarms go off in their order, whatever the order in which they were set")
    func order() async throws {
        let stage = try Stage()
        for second in [30, 10, 20, 10] { stage.set("\(second)", at: second) }
        await stage.move(to: 9)
        #expect(stage.rung.all.isEmpty)
        await stage.move(to: 10)
        #expect(stage.rung.all == ["10", "10"])
        await stage.move(to: 25)
        stage.set("27", at: 27)
        #expect(stage.rung.all == ["10", "10", "20"])
        await stage.move(to: 40)
        #expect(stage.rung.all == ["10", "10", "20", "27", "30"])
        #expect(stage.alarms.count == 0)
        await stage.group.shutdown()
    }

    @Test("an alarm that was taken back does not go off, and the others do")
    func takenBack() async throws {
        let stage = try Stage()
        let first = stage.set("first", at: 10)
        let second = stage.set("second", at: 20)
        stage.set("third", at: 30)
        first()
        await stage.move(to: 15)
        #expect(stage.rung.all.isEmpty && stage.alarms.count == 2)
        second()
        second()
        await stage.move(to: 60)
        #expect(stage.rung.all == ["third"])
        first()
        #expect(stage.alarms.count == 0)
        await stage.group.shutdown()
    }

    @Test("what is due already goes off soon")
    func past() async throws {
        let stage = try Stage()
        await stage.move(to: 50)
        stage.set("late", at: 10)
        await stage.move(to: 50)
        #expect(stage.rung.all == ["late"])
        await stage.group.shutdown()
    }

    @Test("an alarm that goes off may set another")
    func again() async throws {
        let stage = try Stage()
        let moment = stage.start.advanced(by: .seconds(5))
        _ = stage.alarms.set(at: moment) { stage.set("second", at: 7) }
        await stage.move(to: 6)
        #expect(stage.rung.all.isEmpty)
        await stage.move(to: 7)
        #expect(stage.rung.all == ["second"])
        await stage.group.shutdown()
    }

    @Test("as long as there is no loop a thread sees to the alarms; later ones are the loop's")
    func withoutLoop() async throws {
        let loop = Lock<EventLoop?>(nil)
        let alarms = AlarmClock { loop.withLock { $0 } }
        let early = Rung()
        let start = MonotonicClock().now()
        // So late that it is taken back before it is due, however busy the machine is; the count shows that it is gone.
        let takenBack = alarms.set(at: start.advanced(by: .seconds(3_600))) { early.note("taken back") }
        takenBack()
        // Set in the order in which they are due, which holds wherever the thread comes between.
        await withCheckedContinuation { done in
            _ = alarms.set(at: start) { early.note("first") }
            _ = alarms.set(at: start.advanced(by: .milliseconds(30))) { early.note("second") }
            _ = alarms.set(at: start.advanced(by: .milliseconds(60))) { done.resume() }
        }
        #expect(early.all == ["first", "second"])
        #expect(alarms.count == 0 && alarms.timerCount == 0)

        let group = try EventLoopGroup(count: 1, name: "alarms")
        let far = alarms.set(at: start.advanced(by: .seconds(3_600))) { early.note("far") }
        loop.withLock { $0 = group.loops[0] }
        // The thread hands its alarms over to the loop, and ends.
        while alarms.timerCount == 0 { await Task.yield() }
        let isOnLoop = await withCheckedContinuation { done in
            _ = alarms.set(at: start) { done.resume(returning: group.loops[0].isOnLoop) }
        }
        far()
        #expect(isOnLoop)
        await group.shutdown()
    }
}
