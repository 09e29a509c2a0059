// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The program's Swift tasks on a loop: where and when their jobs run, and that each one does.
@Suite(.timeLimit(.minutes(30))) struct LoopExecutorTests {
    /// Starts a task that appends to the notes when it begins.
    private func note(_ text: String, in notes: Box<[String]>, on loop: EventLoop) {
        Task(executorPreference: loop) { notes.update { $0.append(text) } }
    }

    // MARK: where and in which order

    @Test("[C-60] jobs run on the thread of the loop") func thread() async throws {
        try await withLoop { loop in
            try await withLoop { other in
                let seen = await Task(executorPreference: loop) { () -> [Bool] in
                    var seen = [loop.isOnLoop, EventLoop.ofRunningJob === loop]
                    // The task is resumed on another thread, and returns to its loop.
                    await other.run {}
                    seen.append(loop.isOnLoop)
                    await withTaskGroup { group in group.addTask { await other.run {} } }
                    async let child = loop.isOnLoop
                    seen.append(await child)
                    return seen
                }.value
                #expect(seen == [true, true, true, true])
                #expect(await loop.run { EventLoop.ofRunningJob == nil && EventLoop.current === loop })
            }
        }
    }

    @Test("[C-61] jobs run in the order in which they were enqueued") func order() async throws {
        try await withLoop { loop in
            let seen = Box<[Int]>([])
            for number in 0..<1_000 {
                Task(executorPreference: loop) { seen.update { $0.append(number) } }
            }
            await Task(executorPreference: loop) {}.value
            #expect(seen.value == (0..<1_000).map { $0 })
        }
    }

    @Test("[C-63] jobs from many threads run once") func manyThreads() async throws {
        try await withLoop { loop in
            let sum = Box(0)
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<100 {
                            await Task(executorPreference: loop) { sum.update { $0 += 1 } }.value
                        }
                    }
                }
            }
            #expect(sum.value == 800)
        }
    }

    @Test("[C-60] an actor with its own executor runs there, not on the loop")
    func actors() async throws {
        try await withLoop { loop in
            let seen = await Task(executorPreference: loop) {
                [await Plain().isOn(loop), await Main.isOn(loop), loop.isOnLoop]
            }.value
            #expect(seen == [true, false, true])
        }
    }

    private actor Plain {
        func isOn(_ loop: EventLoop) -> Bool { loop.isOnLoop }
    }

    @MainActor private enum Main {
        static func isOn(_ loop: EventLoop) -> Bool { loop.isOnLoop }
    }

    // MARK: when

    @Test("[C-61] jobs run after the events and the deferred work of the turn") func turn() async throws {
        final class Listener: TurnEndListener {
            let notes: Box<[String]>
            init(_ notes: Box<[String]>) { self.notes = notes }
            func turnEnded() { notes.update { $0.append("listener") } }
        }
        try await withLoop(clock: ManualClock()) { loop in
            let notes = Box<[String]>([])
            await loop.run {
                note("job", in: notes, on: loop)
                loop.executeOnLoop { notes.update { $0.append("deferred") } }
                _ = loop.schedule(after: .zero) { _ in notes.update { $0.append("timer") } }
                loop.atTurnEnd(Listener(notes))
                notes.update { $0.append("work") }
            }
            await Task(executorPreference: loop) {}.value
            #expect(notes.value == ["work", "timer", "deferred", "listener", "job"])
        }
    }

    /// Records the beginning and the end of each read, and resumes a task in between.
    private final class Reader: LoopChannel {
        let loop: EventLoop
        let socket: Socket
        let notes: Box<[String]>
        let waiting: Box<CheckedContinuation<Void, Never>?>
        var registration: Registration?

        init(
            _ socket: consuming Socket, _ loop: EventLoop, _ notes: Box<[String]>,
            _ waiting: Box<CheckedContinuation<Void, Never>?>
        ) throws {
            (self.loop, self.notes, self.waiting) = (loop, notes, waiting)
            self.socket = consume socket
            registration = try loop.register(self.socket.descriptor, self)
        }

        func channelReady(_ readiness: Readiness) {
            guard readiness.contains(.readable) else { return }
            notes.update { $0.append("read begins") }
            waiting.update { waiting in
                waiting?.resume()
                waiting = nil
            }
            loop.executeOnLoop { [notes] in notes.update { $0.append("put off") } }
            notes.update { $0.append("read ends") }
        }

        func loopWillClose() {
            if let registration { loop.deregister(registration) }
        }
    }

    @Test("[C-61] a task that a read resumes does not run inside the read") func reading() async throws {
        try await withLoop { loop in
            let (client, server) = try connectedPair(.loopback)
            let notes = Box<[String]>([])
            let waiting = Box<CheckedContinuation<Void, Never>?>(nil)
            #expect(await loop.run { (try? Reader(server.take(), loop, notes, waiting)) != nil })
            let writer = client.take()
            await Task(executorPreference: loop) {
                await withCheckedContinuation { continuation in
                    waiting.update { $0 = continuation }
                    _ = try? writer.send([1].span)
                }
                notes.update { $0.append("task") }
            }.value
            #expect(notes.value == ["read begins", "read ends", "put off", "task"])
        }
    }

    // MARK: fairness

    @Test("[C-61] a task that never stops does not keep the loop from its events") func endlessTask()
        async throws
    {
        try await withStack { client, origin in
            let executor = client.executor
            let (mayStop, rounds) = (Box(false), Box(0))
            let spinning = Task(executorPreference: executor) {
                while !mayStop.value {
                    rounds.update { $0 += 1 }
                    await Task.yield()
                }
            }
            for _ in 0..<10 {
                let response = try await client.get(origin.url + "/bytes/100000")
                #expect(try await response.body.text().utf8.count > 0)
            }
            // The task has run meanwhile, and still does.
            let seen = rounds.value
            while rounds.value == seen { await Task.yield() }
            mayStop.update { $0 = true }
            await spinning.value
        }
    }

    @Test("[C-61] work that never stops does not keep the tasks from running") func endlessWork() async throws
    {
        try await withLoop { loop in
            let mayStop = Box(false)
            @Sendable func repeatWork() {
                if !mayStop.value { loop.executeOnLoop(repeatWork) }
            }
            await loop.run { repeatWork() }
            for _ in 0..<20 { await Task(executorPreference: loop) {}.value }
            mayStop.update { $0 = true }
        }
    }

    @Test("[C-61] jobs that take long share the loop with its work")
    func longJobs() async throws {
        let clock = ManualClock()
        try await withLoop(clock: clock) { loop in
            let notes = Box<[String]>([])
            await loop.run {
                for number in 1...3 {
                    Task(executorPreference: loop) {
                        #expect(loop.now == clock.now(), "a job does not see the present time")
                        clock.advance(by: .milliseconds(5))
                        notes.update { $0.append("job \(number)") }
                        if number == 1 { _ = loop.execute { notes.update { $0.append("work") } } }
                    }
                }
            }
            await Task(executorPreference: loop) {}.value
            #expect(notes.value == ["job 1", "work", "job 2", "job 3"])
        }
    }

    @Test("[C-61] work that a job enqueues waits for the next turn")
    func enqueuedByJobs() async throws {
        try await withLoop(clock: ManualClock()) { loop in
            let notes = Box<[String]>([])
            await loop.run {
                _ = Task(executorPreference: loop) {
                    note("second", in: notes, on: loop)
                    _ = loop.execute { notes.update { $0.append("work") } }
                    notes.update { $0.append("first") }
                }
            }
            await Task(executorPreference: loop) {}.value
            await Task(executorPreference: loop) {}.value
            #expect(notes.value == ["first", "work", "second"])
        }
    }

    // MARK: the library's own work

    @Test("the library's work inside a job does not count as part of the job")
    func workInsideJobs() async throws {
        try await withLoop { loop in
            let seen = await Task(executorPreference: loop) { () -> [Bool] in
                let isInsideJob = Box(true)
                _ = loop.executeInline { isInsideJob.update { $0 = EventLoop.ofRunningJob != nil } }
                return [isInsideJob.value, EventLoop.ofRunningJob != nil]
            }.value
            #expect(seen == [false, true])
        }
    }

    /// Under `LUPINE_HELD_LOCKS`, this terminates the process unless the assertion makes an exception for jobs.
    @Test func theProgramMayBeCalledInItsOwnJob() async throws {
        try await withLoop { loop in await Task(executorPreference: loop) { assertNotOnLoop() }.value }
    }

    // MARK: the end

    @Test("[C-63] jobs of a loop that has ended run elsewhere") func ended() async throws {
        let loop = try EventLoop.start(name: "test-loop")
        await loop.shutdown()
        let ran = Box(0)
        for _ in 0..<20 {
            let isElsewhere = await Task(executorPreference: loop) { () -> Bool in
                await Task.yield()
                ran.update { $0 += 1 }
                return EventLoop.current == nil
            }.value
            #expect(isElsewhere)
        }
        #expect(ran.value == 20)
    }

    @Test("[C-63] jobs that wait when the loop ends run once") func waiting() async throws {
        let loop = try EventLoop.start(name: "test-loop")
        let ran = Box([Int](repeating: 0, count: 200))
        let tasks = await loop.run { () -> [Task<Void, Never>] in
            let before = (0..<100).map { number in
                Task(executorPreference: loop) { ran.update { $0[number] += 1 } }
            }
            loop.beginShutdown()
            return before
                + (100..<200).map { number in
                    Task(executorPreference: loop) { ran.update { $0[number] += 1 } }
                }
        }
        for task in tasks { await task.value }
        await loop.shutdown()
        #expect(ran.value.allSatisfy { $0 == 1 })
    }

    @Test("[C-63] no job is lost while a loop ends") func ending() async throws {
        for _ in 0..<20 {
            let loop = try EventLoop.start(name: "test-loop")
            let (began, steps) = (Gate(), Box(0))
            let tasks = (0..<16).map { _ in
                Task(executorPreference: loop) {
                    for _ in 0..<50 {
                        began.open()
                        await Task.yield()
                        steps.update { $0 += 1 }
                    }
                }
            }
            await began.wait()
            await loop.shutdown()
            for task in tasks { await task.value }
            #expect(steps.value == 16 * 50)
        }
    }

    @Test("[C-63] a task that never stops does not keep its loop from ending") func endlessTaskAtTheEnd()
        async throws
    {
        let loop = try EventLoop.start(name: "test-loop")
        let (mayStop, began) = (Box(false), Gate())
        let spinning = Task(executorPreference: loop) {
            began.open()
            while !mayStop.value { await Task.yield() }
            return EventLoop.current == nil
        }
        await began.wait()
        await loop.shutdown()
        mayStop.update { $0 = true }
        #expect(await spinning.value)
    }

    @Test("[C-63] a task may end the loops that it runs on") func endingItsOwn() async throws {
        for index in 0..<3 {
            let group = try EventLoopGroup(count: 3, name: "test")
            await Task(executorPreference: group.loops[index]) { await group.shutdown() }.value
            #expect(!group.loops.contains { $0.execute {} })
        }
    }

    @Test("[C-63] an executor does not retain its client") func keeping() async throws {
        let executor: any TaskExecutor
        do { executor = HTTPClient(configuration: .with { _ in }).executor }
        // The client has been released, so its loops end although one of them is used as an executor.
        while await Task(executorPreference: executor, operation: { EventLoop.current != nil }).value {}
    }
}
