// SPDX-License-Identifier: MIT

import LupineTestKit
import Synchronization
import Testing

@testable import Lupine

/// The order in which the steps of one request are performed, and where.
struct LaneTests {
    /// The kind of an action.
    private enum Kind: Equatable { case run, moveToRoot, none }

    private static func kind(_ action: Lane.Action) -> Kind {
        switch action {
        case .run: .run
        case .moveToRoot: .moveToRoot
        case .none: .none
        }
    }

    private static func step(needsRoot: Bool) -> Lane.Step { Lane.Step(needsRoot: needsRoot) {} }

    @Test(
        "an idle lane performs a step on the calling thread, unless the step has to run on the root queue",
        arguments: [(false, false), (false, true), (true, false), (true, true)])
    func idle(needsRoot: Bool, isOnRoot: Bool) {
        var lane = Lane()
        let mustMove = needsRoot && !isOnRoot
        let action = lane.add(Self.step(needsRoot: needsRoot), isOnRoot: isOnRoot)
        #expect(Self.kind(action) == (mustMove ? .moveToRoot : .run))
        #expect(lane.isRunningOffRoot == (!mustMove && !isOnRoot))
        if mustMove { #expect(Self.kind(lane.beganOnRoot()) == .run) }
        #expect(!lane.isRunningOffRoot || !isOnRoot)
        #expect(Self.kind(lane.stepReturned()) == .none)
        #expect(!lane.isRunningOffRoot)
    }

    @Test("steps that are added during a step wait for it, and are performed in order")
    func order() {
        var lane = Lane()
        #expect(Self.kind(lane.add(Self.step(needsRoot: false), isOnRoot: false)) == .run)
        #expect(Self.kind(lane.add(Self.step(needsRoot: false), isOnRoot: true)) == .none)
        #expect(Self.kind(lane.add(Self.step(needsRoot: true), isOnRoot: true)) == .none)
        #expect(Self.kind(lane.add(Self.step(needsRoot: false), isOnRoot: false)) == .none)
        #expect(Self.kind(lane.stepReturned()) == .run)
        #expect(Self.kind(lane.stepReturned()) == .moveToRoot)
        #expect(Self.kind(lane.add(Self.step(needsRoot: false), isOnRoot: false)) == .none)
        #expect(Self.kind(lane.beganOnRoot()) == .run)
        #expect(Self.kind(lane.stepReturned()) == .run)
        #expect(Self.kind(lane.stepReturned()) == .run)
        #expect(Self.kind(lane.stepReturned()) == .none)
    }

    @Test("a call that does not fit the state of the lane has no effect")
    func unexpectedCalls() {
        var lane = Lane()
        #expect(Self.kind(lane.stepReturned()) == .none)
        #expect(Self.kind(lane.beganOnRoot()) == .none)
        _ = lane.add(Self.step(needsRoot: false), isOnRoot: false)
        #expect(Self.kind(lane.beganOnRoot()) == .none)
        #expect(lane.isRunningOffRoot)
    }

    @Test(
        "in any order of calls, each step is performed once, in order, one at a time, and on the root queue if needed"
    )
    func model() {
        var random = SeededRandom(seed: 24)
        var performed = 0
        for _ in 0..<2000 {
            var lane = Lane()
            let done = Mutex<[Int]>([])
            var added: [Int] = []
            // Either a thread performs a step, or a block is enqueued on the root queue, or neither.
            var running: (step: Lane.Step, isOnRoot: Bool)?
            var isMoving = false
            func perform(_ action: Lane.Action, isOnRoot: Bool) {
                switch action {
                case .none: running = nil
                case .moveToRoot:
                    running = nil
                    #expect(!isMoving)
                    isMoving = true
                case .run(let step):
                    #expect(!isMoving)
                    #expect(
                        !step.needsRoot || isOnRoot,
                        "a step that needs the root queue is performed on another thread")
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
                    let action = lane.add(step, isOnRoot: isOnRoot)
                    if wasBusy {
                        #expect(Self.kind(action) == .none)
                    } else {
                        perform(action, isOnRoot: isOnRoot)
                    }
                } else if let (step, isOnRoot) = running {
                    step.run()
                    perform(lane.stepReturned(), isOnRoot: isOnRoot)
                } else if isMoving {
                    isMoving = false
                    perform(lane.beganOnRoot(), isOnRoot: true)
                }
                #expect(lane.isRunningOffRoot == (running.map { !$0.isOnRoot } ?? false))
            }
            while running != nil || isMoving {
                if let (step, isOnRoot) = running {
                    step.run()
                    perform(lane.stepReturned(), isOnRoot: isOnRoot)
                } else {
                    isMoving = false
                    perform(lane.beganOnRoot(), isOnRoot: true)
                }
            }
            #expect(done.withLock { $0 } == added)
            performed += added.count
        }
        #expect(performed > 10_000)
    }
}
