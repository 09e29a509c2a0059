// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

struct TaskDeliveryTests {
    private func silent() -> any TaskQuestion { ClosureQuestion(ask: { _, _ in }, abandon: {}) }

    /// A delivery in a class, so that expectations can contain mutating calls.
    private final class Delivery {
        private var delivery = TaskDelivery()
        private var holdDecisions = 0

        func add(_ step: TaskDelivery.Step) -> Bool { delivery.add(step) }
        func add(_ data: Data) -> (needsTurn: Bool, pauses: Bool) { delivery.add(data) }
        func ask(_ question: any TaskQuestion) -> (isQueued: Bool, needsTurn: Bool) { delivery.ask(question) }
        func answered(_ question: any TaskQuestion) -> Bool { delivery.markAnswered(question) }
        func insert(_ step: TaskDelivery.Step) { delivery.insert(step) }
        func cancel() -> TaskDelivery.Dropped { delivery.cancel() }
        func abandonOpenQuestion() -> TaskDelivery.Dropped { delivery.abandonOpenQuestion() }
        func end() -> Bool { delivery.end() }
        func endDirectly() -> Bool { delivery.finishWithoutTurn() }
        func holdContent(_ isHeld: Bool, decision number: Int? = nil) -> Bool {
            holdDecisions = number ?? holdDecisions + 1
            return delivery.holdContent(isHeld, decision: holdDecisions)
        }
        func takeNext() -> TaskDelivery.Action { delivery.takeNext() }

        /// Returns what the delivery hands out until it stops.
        func drain() -> [String] {
            var turns: [String] = []
            while true {
                switch delivery.takeNext() {
                case .call: turns.append("call")
                case .unconditional: turns.append("unconditional")
                case .question: turns.append("question")
                case .data(let data, let resumes):
                    turns.append("data \(data.count)\(resumes ? " resumes" : "")")
                case .end: turns.append("end")
                case .finish: turns.append("finish")
                case .stop: return turns
                }
            }
        }
    }

    @Test("one turn is requested for any number of additions, and runs all in order")
    func oneTurn() {
        let delivery = Delivery()
        #expect(delivery.add(.call { _ in }))
        #expect(!delivery.add(Data(count: 3)).needsTurn)
        #expect(!delivery.add(Data(count: 4)).needsTurn)
        #expect(!delivery.end())
        #expect(delivery.drain() == ["call", "data 3", "data 4", "end", "finish"])
        #expect(!delivery.add(.call { _ in }), "[U-5.2] nothing comes after the last call")
        #expect(delivery.add(.unconditional {}))
        #expect(delivery.drain() == ["unconditional"])
    }

    @Test("a task can be ended directly only if no call waits, is open or is about to run")
    func directEnd() {
        let delivery = Delivery()
        #expect(delivery.add(.call { _ in }))
        #expect(!delivery.endDirectly())
        #expect(delivery.drain() == ["call"])
        let question = silent()
        #expect(delivery.ask(question).needsTurn)
        #expect(!delivery.endDirectly())
        #expect(delivery.drain() == ["question"])
        #expect(!delivery.endDirectly())
        #expect(delivery.answered(question) == false)
        #expect(delivery.endDirectly() && !delivery.endDirectly())
        #expect(!delivery.end() && !delivery.add(.call { _ in }) && delivery.drain() == [])
        #expect(delivery.add(.unconditional {}))
        #expect(delivery.drain() == ["unconditional"])
        let ended = Delivery()
        #expect(ended.end() && !ended.endDirectly())
    }

    @Test(
        "[T-7] at most 64 pieces wait separately: later ones are joined, up to 64 KiB each, and none is lost")
    func joinedPieces() {
        let delivery = Delivery()
        for _ in 0..<1_000 { _ = delivery.add(Data(count: 1)) }
        let waiting = delivery.drain()
        #expect(waiting == Array(repeating: "data 1", count: 63) + ["data 937"])
        for _ in 0..<70 { _ = delivery.add(Data(count: 3_000)) }
        #expect(delivery.drain().suffix(2) == ["data 3000", "data 21000"])
        for _ in 0..<64 { _ = delivery.add(Data(count: 1)) }
        _ = delivery.add(.call { _ in })
        for _ in 0..<2 { _ = delivery.add(Data(count: 1)) }
        #expect(delivery.drain().suffix(3) == ["data 1", "call", "data 2"])
    }

    @Test("[U-7.2] delivered pieces do not count as waiting, also if others always wait")
    func roomOfWhatIsGone() throws {
        var delivery = TaskDelivery()
        _ = delivery.add(Data(count: 1))
        for size in 2...10_000 {
            _ = delivery.add(Data(count: size % 100 + 1))
            guard case .data(let piece, _) = delivery.takeNext() else {
                Issue.record("no piece behind \(size)")
                return
            }
            #expect(size == 2 || piece.count == (size - 1) % 100 + 1)
        }
        let steps = try #require(Mirror(reflecting: delivery).descendant("steps") as? [TaskDelivery.Step])
        #expect(steps.count < 1_000)
    }

    @Test("[U-5.5] an open question holds back the calls behind it")
    func questionHoldsBack() {
        let delivery = Delivery()
        let question = silent()
        let (isQueued, needsTurn) = delivery.ask(question)
        #expect(isQueued && needsTurn)
        _ = delivery.add(Data(count: 5))
        _ = delivery.end()
        #expect(delivery.drain() == ["question"])
        #expect(!delivery.add(Data(count: 6)).needsTurn)
        #expect(!delivery.answered(silent()), "the answer to another question opens nothing")
        #expect(delivery.answered(question))
        #expect(!delivery.answered(question), "[U-5.10] a second answer opens nothing")
        #expect(delivery.drain() == ["data 5", "data 6", "end", "finish"])
    }

    @Test("[U-5.3] a cancellation keeps the undroppable calls, and the end")
    func cancellation() {
        let delivery = Delivery()
        let open = silent()
        let later = silent()
        _ = delivery.ask(open)
        _ = delivery.drain()
        _ = delivery.add(Data(count: 5))
        _ = delivery.add(.unconditional {})
        _ = delivery.ask(later)
        let dropped = delivery.cancel()
        #expect(dropped.questions.count == 2)
        #expect(dropped.needsTurn)
        #expect(!delivery.add(.call { _ in }))
        #expect(!delivery.ask(silent()).isQueued)
        #expect(delivery.drain() == ["unconditional"])
        #expect(delivery.end())
        #expect(delivery.drain() == ["end", "finish"])
    }

    @Test("[U-5.5] more than 256 KiB waiting pause the load, which continues when little is left")
    func marks() {
        let delivery = Delivery()
        let piece = 64 * 1024
        for _ in 0..<4 { #expect(!delivery.add(Data(count: piece)).pauses) }
        #expect(delivery.add(Data(count: 1)).pauses)
        #expect(delivery.add(Data(count: 1)).pauses)
        #expect(
            delivery.drain() == [
                "data 65536", "data 65536", "data 65536", "data 65536 resumes", "data 1", "data 1",
            ])
        #expect(!delivery.add(Data(count: 1)).pauses)
    }

    @Test("held content and the calls behind it wait, earlier calls are made, and the load stops")
    func heldContent() {
        let delivery = Delivery()
        #expect(!delivery.holdContent(true))
        #expect(delivery.add(.call { _ in }))
        #expect(delivery.add(Data(count: 2)).pauses, "what the consumer has is enough")
        #expect(!delivery.add(.call { _ in }))
        #expect(delivery.drain() == ["call"])
        #expect(!delivery.add(.unconditional {}), "behind the piece")
        #expect(delivery.add(Data(count: 1)).pauses)
        #expect(!delivery.end())
        #expect(delivery.holdContent(false))
        #expect(!delivery.holdContent(false), "one turn is asked for")
        #expect(
            delivery.drain() == [
                "data 2 resumes", "call", "unconditional", "data 1", "end", "finish",
            ])
    }

    @Test("holding content during a turn ends the turn before the next piece")
    func heldInTurn() {
        let delivery = Delivery()
        _ = delivery.add(Data(count: 1))
        _ = delivery.add(Data(count: 2))
        guard case .data = delivery.takeNext() else {
            Issue.record("the first piece is to come")
            return
        }
        #expect(!delivery.holdContent(true))
        #expect(delivery.drain() == [])
        #expect(delivery.holdContent(false))
        #expect(delivery.drain() == ["data 2"])
    }

    @Test("an earlier decision about held content changes nothing when it comes late")
    func lateDecision() {
        let delivery = Delivery()
        #expect(!delivery.holdContent(true, decision: 2))
        #expect(!delivery.add(Data(count: 1)).needsTurn)
        #expect(!delivery.holdContent(false, decision: 1))
        #expect(delivery.drain() == [])
        #expect(delivery.holdContent(false, decision: 3))
        #expect(!delivery.holdContent(true, decision: 2))
        #expect(delivery.drain() == ["data 1 resumes"])
    }

    @Test("[U-5.3] a cancellation drops held content, and ends the task")
    func heldAndCancelled() {
        let delivery = Delivery()
        _ = delivery.holdContent(true)
        _ = delivery.add(Data(count: 1))
        _ = delivery.add(.unconditional {})
        #expect(delivery.cancel().needsTurn)
        _ = delivery.end()
        #expect(delivery.drain() == ["unconditional", "end", "finish"])
    }

    @Test("[U-5.10] a forced end abandons an open question, and drops nothing if none is open")
    func force() {
        let delivery = Delivery()
        _ = delivery.add(Data(count: 5))
        #expect(delivery.abandonOpenQuestion().questions.isEmpty)
        #expect(delivery.drain() == ["data 5"])
        _ = delivery.ask(silent())
        _ = delivery.drain()
        _ = delivery.add(Data(count: 6))
        #expect(delivery.abandonOpenQuestion().questions.count == 1)
        _ = delivery.end()
        #expect(delivery.drain() == ["end", "finish"])
    }

    @Test("calls that the sink adds at the end come before the metrics, an inserted call before all others")
    func lastWords() {
        let delivery = Delivery()
        _ = delivery.add(Data(count: 1))
        _ = delivery.add(Data(count: 2))
        guard case .data = delivery.takeNext() else {
            Issue.record("the first piece is to come")
            return
        }
        delivery.insert(.unconditional {})
        _ = delivery.end()
        guard case .unconditional = delivery.takeNext(), case .data = delivery.takeNext(),
            case .end = delivery.takeNext()
        else {
            Issue.record("the inserted step is to come, then the second piece, then the end")
            return
        }
        #expect(!delivery.add(.call { _ in }))
        #expect(delivery.drain() == ["call", "finish"])
    }
}
