// SPDX-License-Identifier: MIT

import LupineTestKit
import Synchronization
import Testing

@testable import Lupine

/// The order in which the steps of one request are performed, and where.
struct LaneTests {
    /// A name for what a lane answers.
    private enum Answer: Equatable { case run, moveToRoot, none }

    private static func answer(_ action: Lane.Action) -> Answer {
        switch action {
        case .run: .run
        case .moveToRoot: .moveToRoot
        case .none: .none
        }
    }

    private static func step(needsRoot: Bool) -> Lane.Step { Lane.Step(needsRoot: needsRoot) {} }

    @Test(
        "an idle lane performs a step where it is, and moves to the root queue for one that has to run there",
        arguments: [(false, false), (false, true), (true, false), (true, true)])
    func idle(needsRoot: Bool, isOnRoot: Bool) {
        var lane = Lane()
        let mustMove = needsRoot && !isOnRoot
        let action = lane.enter(Self.step(needsRoot: needsRoot), isOnRoot: isOnRoot)
        #expect(Self.answer(action) == (mustMove ? .moveToRoot : .run))
        #expect(lane.isRunningOffRoot == (!mustMove && !isOnRoot))
        if mustMove { #expect(Self.answer(lane.arrived()) == .run) }
        #expect(!lane.isRunningOffRoot || !isOnRoot)
        #expect(Self.answer(lane.stepReturned()) == .none)
        #expect(!lane.isRunningOffRoot)
    }

    @Test("steps that come during a step wait for it, in their order")
    func order() {
        var lane = Lane()
        #expect(Self.answer(lane.enter(Self.step(needsRoot: false), isOnRoot: false)) == .run)
        #expect(Self.answer(lane.enter(Self.step(needsRoot: false), isOnRoot: true)) == .none)
        #expect(Self.answer(lane.enter(Self.step(needsRoot: true), isOnRoot: true)) == .none)
        #expect(Self.answer(lane.enter(Self.step(needsRoot: false), isOnRoot: false)) == .none)
        #expect(Self.answer(lane.stepReturned()) == .run)
        #expect(Self.answer(lane.stepReturned()) == .moveToRoot)
        #expect(Self.answer(lane.enter(Self.step(needsRoot: false), isOnRoot: false)) == .none)
        #expect(Self.answer(lane.arrived()) == .run)
        #expect(Self.answer(lane.stepReturned()) == .run)
        #expect(Self.answer(lane.stepReturned()) == .run)
        #expect(Self.answer(lane.stepReturned()) == .none)
    }

    @Test("what a lane is told at a time when it cannot happen has no effect")
    func strays() {
        var lane = Lane()
        #expect(Self.answer(lane.stepReturned()) == .none)
        #expect(Self.answer(lane.arrived()) == .none)
        _ = lane.enter(Self.step(needsRoot: false), isOnRoot: false)
        #expect(Self.answer(lane.arrived()) == .none)
        #expect(lane.isRunningOffRoot)
    }

    @Test(
        "whatever comes when: each step is performed once, in order, one at a time, and on the root queue if it has to be"
    )
    func model() {
        var random = SeededRandom(seed: 24)
        var performed = 0
        for _ in 0..<2000 {
            var lane = Lane()
            let done = Mutex<[Int]>([])
            var added: [Int] = []
            // At most one of these holds: a thread performs a step, or a block is on its way to the root queue.
            var running: (step: Lane.Step, isOnRoot: Bool)?
            var isMoving = false
            func follow(_ action: Lane.Action, isOnRoot: Bool) {
                switch action {
                case .none: running = nil
                case .moveToRoot:
                    running = nil
                    #expect(!isMoving)
                    isMoving = true
                case .run(let step):
                    #expect(!isMoving)
                    #expect(!step.needsRoot || isOnRoot, "a step for the root queue is performed elsewhere")
                    running = (step, isOnRoot)
                }
            }
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                if Bool.random(using: &random) {
                    let number = added.count
                    added.append(number)
                    let step = Lane.Step(needsRoot: Bool.random(using: &random)) {
                        done.withLock { $0.append(number) }
                    }
                    let isOnRoot = Bool.random(using: &random)
                    let wasBusy = running != nil || isMoving
                    let action = lane.enter(step, isOnRoot: isOnRoot)
                    if wasBusy {
                        #expect(Self.answer(action) == .none)
                    } else {
                        follow(action, isOnRoot: isOnRoot)
                    }
                } else if let (step, isOnRoot) = running {
                    step.run()
                    follow(lane.stepReturned(), isOnRoot: isOnRoot)
                } else if isMoving {
                    isMoving = false
                    follow(lane.arrived(), isOnRoot: true)
                }
                #expect(lane.isRunningOffRoot == (running.map { !$0.isOnRoot } ?? false))
            }
            while running != nil || isMoving {
                if let (step, isOnRoot) = running {
                    step.run()
                    follow(lane.stepReturned(), isOnRoot: isOnRoot)
                } else {
                    isMoving = false
                    follow(lane.arrived(), isOnRoot: true)
                }
            }
            #expect(done.withLock { $0 } == added)
            performed += added.count
        }
        #expect(performed > 10_000)
    }
}
