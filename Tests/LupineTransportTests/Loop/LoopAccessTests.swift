// SPDX-License-Identifier: MIT

import Dispatch
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Borrowing a sleeping loop: who may use its state, and what happens to the work that a borrower leaves.
@Suite(.timeLimit(.minutes(10))) struct LoopAccessTests {
    // MARK: the holder

    @Test func theTableOfHoldersIsComplete() {
        let transitions: [LoopHolder: [LoopHolder.Event: LoopHolder]] = [
            .loop: [.sleeps: .nobody],
            .nobody: [.borrowed: .borrower, .wakes: .loop],
            .borrower: [.givenBack: .nobody, .wakes: .borrowerBeforeLoop],
            .borrowerBeforeLoop: [.givenBack: .loop],
        ]
        for holder in LoopHolder.allCases {
            for event in LoopHolder.Event.allCases {
                #expect(holder.next(after: event) == transitions[holder]?[event], "\(holder), \(event)")
            }
        }
    }

    /// Random schedules of a loop and four callers: at most one of them uses the loop's state, the loop's thread waits only
    /// while a caller does, and nobody is forgotten.
    @Test func oneThreadAtATimeUsesTheLoop() {
        var random = SeededRandom(seed: 7)
        var holder = LoopHolder.loop
        var isLoopWaiting = false
        var loopRuns = true
        var borrower: Int?
        for _ in 0..<200_000 {
            let actor = Int.random(in: 0...4, using: &random)
            if actor == 0 {
                // While it waits for a caller, the loop's thread does nothing.
                if isLoopWaiting { continue }
                let event: LoopHolder.Event = loopRuns ? .sleeps : .wakes
                guard let next = holder.next(after: event) else {
                    Issue.record("\(holder) refuses \(event)")
                    return
                }
                holder = next
                loopRuns = holder == .loop
                isLoopWaiting = holder == .borrowerBeforeLoop
            } else if borrower == actor {
                guard let next = holder.next(after: .givenBack) else {
                    Issue.record("\(holder) refuses the end of a borrowing")
                    return
                }
                holder = next
                borrower = nil
                if holder == .loop { (isLoopWaiting, loopRuns) = (false, true) }
            } else if let next = holder.next(after: .borrowed) {
                #expect(borrower == nil && !loopRuns)
                (holder, borrower) = (next, actor)
            }
            #expect([loopRuns, borrower != nil].count(where: \.self) <= 1)
            #expect(!isLoopWaiting || borrower != nil)
        }
    }

    // MARK: threads

    @Test func borrowersAndTheLoopExcludeEachOther() async throws {
        try await withLoop { loop in
            // Not atomic: two threads at once would lose counts, and ThreadSanitizer would report them.
            final class Counter {
                var count = 0
                var isInUse = false

                func add() {
                    #expect(!isInUse)
                    isInUse = true
                    count += 1
                    isInUse = false
                }
            }
            let counter = LoopBound(sending: Counter(), to: loop)
            let borrowings = Box(0)
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for round in 0..<2_000 {
                            if round % 4 == 0 {
                                #expect(loop.execute { counter.value.add() })
                            } else if loop.executeWhileIdle({ counter.value.add() }) {
                                borrowings.update { $0 += 1 }
                            }
                        }
                    }
                }
            }
            let count = await loop.run { counter.value.count }
            #expect(count == 4 * 500 + borrowings.value)
        }
    }

    @Test func aBorrowerCountsAsTheLoop() async throws {
        try await withLoop { loop in
            let listener = Listener()
            borrow(loop) {
                #expect(loop.isOnLoop)
                #expect(EventLoop.current === loop)
                loop.atTurnEnd(listener)
                // A thread that runs a loop borrows none.
                #expect(!loop.executeWhileIdle {})
            }
            #expect(!loop.isOnLoop)
            #expect(EventLoop.current == nil)
            #expect(listener.calls.value == 1)
        }
    }

    @Test func theLoopDoesWhatABorrowerLeaves() async throws {
        let clock = ManualClock()
        try await withLoop(clock: clock) { loop in
            let thread = await loop.run { NativeThread.current }
            let deferringThread = await threadOfWork { work in borrow(loop) { loop.executeOnLoop(work) } }
            #expect(deferringThread == thread)
            let submittingThread = await threadOfWork { work in borrow(loop) { _ = loop.execute(work) } }
            #expect(submittingThread == thread)
            // The loop sleeps without a limit, and must wake for the timer.
            let timerThread = await threadOfWork { work in
                borrow(loop) { _ = loop.schedule(at: clock.now()) { _ in work() } }
            }
            #expect(timerThread == thread)
        }
    }

    @Test func aLoopInUseIsNotBorrowed() async throws {
        let loop = try EventLoop.start(name: "test-loop")
        let mayContinue = await occupy(loop)
        #expect(!loop.executeWhileIdle {})
        mayContinue.signal()
        await loop.run { loop.exchangeBegan() }
        // The loop carries an exchange.
        #expect(!loop.executeWhileIdle {})
        await loop.run { loop.exchangeLeft() }
        await loop.shutdown()
        #expect(!loop.executeWhileIdle {})
    }

    @Test func onlyALoopThatIsAwakeCallsAListenerOfOthers() async throws {
        let group = try EventLoopGroup(count: 2)
        let loop = group.loops[1]
        for other in group.loops { borrow(other) {} }
        let listener = Listener()
        // No loop is awake.
        #expect(!group.notifyAtTurnEnd(listener))
        let mayContinue = await occupy(loop)
        #expect(group.notifyAtTurnEnd(listener))
        #expect(listener.calls.value == 0)
        let isOver = Gate()
        #expect(loop.execute { isOver.open() })
        mayContinue.signal()
        await isOver.wait()
        // The work of the next turn runs after the listener.
        await loop.run {}
        #expect(listener.calls.value == 1)
        await group.shutdown()
        #expect(!group.notifyAtTurnEnd(listener))
    }

    // MARK: requests

    @Test(arguments: TestedHTTP.allCases) func theCallerWritesASmallRequest(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withPool(over: testedHTTP) { stage in
            try await stage.send()
            // Until the loop sleeps when a request is submitted.
            while true {
                let thread = Box<UInt>(0)
                let sink = RecordingSink(onBegin: { thread.update { $0 = NativeThread.current } })
                let caller = submit(try stage.exchange(sink: sink).exchange, to: stage.pool)
                await sink.ended.wait()
                #expect(sink.failure == nil)
                if thread.value == caller { break }
            }
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    /// Submits an exchange, and returns the calling thread.
    private func submit(_ exchange: Exchange, to pool: ConnectionPool) -> UInt {
        pool.submit(exchange)
        return NativeThread.current
    }

    /// Returns the thread on which work runs that a borrower leaves to the loop.
    private func threadOfWork(leftBy borrower: (@escaping @Sendable () -> Void) -> Void) async -> UInt {
        let (thread, isDone) = (Box<UInt>(0), Gate())
        borrower {
            thread.update { $0 = NativeThread.current }
            isDone.open()
        }
        await isDone.wait()
        return thread.value
    }

    /// Makes the loop's thread wait, in a turn, until the returned semaphore is signalled.
    private func occupy(_ loop: EventLoop) async -> DispatchSemaphore {
        let isBusy = Gate()
        let mayContinue = DispatchSemaphore(value: 0)
        #expect(
            loop.execute {
                isBusy.open()
                mayContinue.wait()
            })
        await isBusy.wait()
        return mayContinue
    }

    /// Runs `work` in the borrowed loop, as soon as that sleeps.
    private func borrow(_ loop: EventLoop, _ work: () -> Void) {
        while !loop.executeWhileIdle(work) { NativeThread.pause(milliseconds: 1) }
    }

    private final class Listener: TurnEndListener, Sendable {
        let calls = Box(0)

        func turnEnded() { calls.update { $0 += 1 } }
    }
}
