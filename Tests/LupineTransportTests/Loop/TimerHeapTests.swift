// SPDX-License-Identifier: MIT

import LupineTestKit
import LupineTransport
import Testing

@Suite struct TimerHeapTests {
    @Test func tenThousandRandomTimersAgreeWithAModel() {
        var random = SeededRandom(seed: 7)
        var heap = TimerHeap<Int>()
        var model: [(deadline: Int64, order: Int, token: TimerHeap<Int>.Token)] = []
        var removedTokens: [TimerHeap<Int>.Token] = []
        var now: Int64 = 0
        var insertedCount = 0
        while insertedCount < 10_000 || !model.isEmpty {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5 where insertedCount < 10_000:
                let deadline = now + Int64.random(in: -5...500, using: &random)
                let token = heap.insert(insertedCount, at: Instant(nanoseconds: deadline))
                model.append((deadline, insertedCount, token))
                insertedCount += 1
            case 5..<8:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                let removed = model.remove(at: index)
                #expect(heap.remove(removed.token) == removed.order)
                removedTokens.append(removed.token)
            case 8:
                if let token = removedTokens.randomElement(using: &random) {
                    #expect(heap.remove(token) == nil)
                }
            default:
                now += Int64.random(in: 0...40, using: &random)
                let due = model.filter { $0.deadline <= now }
                    .sorted { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
                model.removeAll { $0.deadline <= now }
                for timer in due {
                    #expect(heap.popDue(at: Instant(nanoseconds: now)) == timer.order)
                    removedTokens.append(timer.token)
                }
                #expect(heap.popDue(at: Instant(nanoseconds: now)) == nil)
            }
            #expect(heap.count == model.count)
            #expect(heap.next?.nanoseconds == model.map(\.deadline).min())
        }
    }

    @Test func timersOfOneDeadlineFireInTheOrderInWhichTheyWereSet() {
        var heap = TimerHeap<Int>()
        for number in 0..<100 { _ = heap.insert(number, at: Instant(nanoseconds: 5)) }
        let fired = (0..<100).map { _ in heap.popDue(at: Instant(nanoseconds: 5)) }
        #expect(fired == (0..<100).map { $0 })
    }

    @Test func timersSetAfterTheBoundAreNotReturned() {
        var heap = TimerHeap<Int>()
        let now = Instant(nanoseconds: 5)
        _ = heap.insert(1, at: now)
        let newest = heap.newest
        _ = heap.insert(2, at: now)
        _ = heap.insert(3, at: Instant(nanoseconds: 4))
        // The earliest timer was set after `newest`, so with that bound nothing is returned before it has been removed.
        #expect(heap.popDue(at: now, upTo: newest) == nil)
        #expect(heap.popDue(at: now) == 3)
        #expect(heap.popDue(at: now, upTo: newest) == 1)
        #expect(heap.popDue(at: now, upTo: newest) == nil && heap.count == 1)
    }

    @Test func instantsSaturate() {
        let late = Instant(nanoseconds: .max - 1)
        #expect(late.advanced(by: .seconds(1)) == .distantFuture)
        #expect(late.advanced(by: .seconds(Int64.max)) == .distantFuture)
        #expect(Instant(nanoseconds: 0).duration(to: late) == .nanoseconds(Int64.max - 1))
        #expect(Instant(nanoseconds: .min).duration(to: late) == .nanoseconds(Int64.max))
        #expect(late.advanced(by: .seconds(-1)).nanoseconds == .max - 1_000_000_001)
    }
}
