// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import Lupine

/// The steps of a request: who takes them, and where.
struct RequestLaneTests {
    typealias Lane = RequestLane<Int>

    private func taken(_ order: Lane.Order) -> Int? {
        if case .take(let step) = order { step } else { nil }
    }

    private func isCall(_ order: Lane.Order) -> Bool {
        if case .call = order { true } else { false }
    }

    @Test("a step that may be taken anywhere is taken by whoever brings it")
    func anywhere() {
        var lane = Lane()
        #expect(taken(lane.begin(1, mayTakeHere: true)) == 1)
        #expect(taken(lane.begin(2, mayTakeHere: true)) == nil)
        #expect(taken(lane.next(mayTakeHere: true)) == 2)
        #expect(taken(lane.next(mayTakeHere: true)) == nil)
        #expect(lane.phase == .idle)
    }

    @Test("a step of the program's is taken on the root queue, and one block is put there for several")
    func onRoot() {
        var lane = Lane()
        #expect(isCall(lane.begin(1, mayTakeHere: false)))
        #expect(!isCall(lane.begin(2, mayTakeHere: false)))
        #expect(lane.phase == .called)
        #expect(taken(lane.begin(mayTakeHere: true)) == 1)
        #expect(taken(lane.next(mayTakeHere: true)) == 2)
        #expect(taken(lane.next(mayTakeHere: true)) == nil)
    }

    @Test("whoever is on the root queue before the block that was put there takes what waits")
    func beforeTheBlock() {
        var lane = Lane()
        #expect(isCall(lane.begin(1, mayTakeHere: false)))
        #expect(taken(lane.begin(2, mayTakeHere: true)) == 1)
        #expect(taken(lane.next(mayTakeHere: true)) == 2)
        #expect(taken(lane.next(mayTakeHere: true)) == nil)
        #expect(taken(lane.begin(mayTakeHere: true)) == nil)
        #expect(lane.phase == .idle)
    }

    @Test("a step behind which the program takes part hands the rest to the root queue")
    func handedOver() {
        var lane = Lane()
        #expect(taken(lane.begin(1, mayTakeHere: true)) == 1)
        lane.append(2)
        #expect(isCall(lane.next(mayTakeHere: false)))
        #expect(taken(lane.begin(3, mayTakeHere: true)) == 2)
        #expect(taken(lane.next(mayTakeHere: true)) == 3)
    }

    @Test("the rest of a step comes before all that wait")
    func rest() {
        var lane = Lane()
        #expect(taken(lane.begin(1, mayTakeHere: true)) == 1)
        lane.append(3)
        lane.prepend(2)
        #expect(isCall(lane.next(mayTakeHere: false)))
        #expect(taken(lane.begin(mayTakeHere: true)) == 2)
        lane.prepend(4)
        #expect(taken(lane.next(mayTakeHere: true)) == 4)
        #expect(taken(lane.next(mayTakeHere: true)) == 3)
    }

    /// Threads that bring and take steps, root blocks that come when they like, and a request whose steps may and may not be taken
    /// anywhere as time goes on.
    @Test(
        "a model: each step once, in order, one at a time, on the root queue where it has to be, and none left",
        arguments: 0..<4)
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var lane = Lane()
        var brought = 0
        var expected = 0
        var blocks = 0
        /// Whether the one who takes steps is on the root queue.
        var takerIsOnRoot: Bool?
        var isPlain = true

        func follow(_ order: Lane.Order, isOnRoot: Bool) -> Bool {
            switch order {
            case .take(let step):
                guard step == expected, isOnRoot || isPlain else { return false }
                expected += 1
                takerIsOnRoot = isOnRoot
            case .call: blocks += 1
            case .leave: break
            }
            return true
        }
        for _ in 0..<250_000 {
            var holds = true
            switch random.next() % 8 {
            case 0, 1, 2:
                // The root queue runs one thing at a time: who takes steps there keeps others from it.
                let isOnRoot = random.next() % 4 == 0 && takerIsOnRoot != true
                let order = lane.begin(brought, mayTakeHere: isOnRoot || isPlain)
                brought += 1
                holds = follow(order, isOnRoot: isOnRoot)
            case 3:
                lane.append(brought)
                brought += 1
                holds = follow(lane.begin(mayTakeHere: isPlain), isOnRoot: false)
            case 4:
                if blocks > 0, takerIsOnRoot != true {
                    blocks -= 1
                    holds = follow(lane.begin(mayTakeHere: true), isOnRoot: true)
                }
            case 5, 6:
                if let isOnRoot = takerIsOnRoot {
                    takerIsOnRoot = nil
                    holds = follow(lane.next(mayTakeHere: isOnRoot || isPlain), isOnRoot: isOnRoot)
                }
            default: isPlain = random.next() % 2 == 0
            }
            // What waits is seen to.
            let isSeenTo = expected == brought || takerIsOnRoot != nil || blocks > 0
            guard holds, isSeenTo, (lane.phase == .taken) == (takerIsOnRoot != nil) else {
                Issue.record("step \(expected) of \(brought), \(lane.phase), \(blocks) blocks")
                return
            }
        }
        // All come to their end.
        while expected < brought || takerIsOnRoot != nil {
            if let isOnRoot = takerIsOnRoot {
                takerIsOnRoot = nil
                guard follow(lane.next(mayTakeHere: isOnRoot || isPlain), isOnRoot: isOnRoot) else { break }
            } else {
                guard blocks > 0 else { break }
                blocks -= 1
                guard follow(lane.begin(mayTakeHere: true), isOnRoot: true) else { break }
            }
        }
        #expect(expected == brought)
        #expect(lane.phase == .idle)
    }
}
