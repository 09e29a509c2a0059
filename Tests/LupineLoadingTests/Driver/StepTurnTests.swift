// SPDX-License-Identifier: MIT

import Testing

@testable import LupineLoading

struct StepTurnTests {
    /// What a thread does with the turn: it reports actions, or takes the next ones of the queue.
    enum Move: Sendable {
        case step, command, asynchronousStep, next, question
    }

    static let rows: [(summary: String, moves: [(move: Move, result: String)])] = [
        (
            "the thread that performs steps gets the steps of the others, but not their commands",
            [
                (.command, "perform"), (.step, "perform"), (.command, "perform"),
                (.asynchronousStep, "queued"), (.step, "queued"), (.next, "dispatch step"),
                (.step, "queued"), (.next, "step"), (.next, "step"), (.next, "end"), (.step, "perform"),
            ]
        ),
        (
            "while the client is asked during a call of the hop, commands are queued too",
            [
                (.question, ""), (.command, "queued"), (.step, "queued"), (.next, "command"),
                (.next, "step"), (.command, "queued"), (.next, "command"), (.next, "end"),
                (.command, "perform"), (.step, "perform"),
            ]
        ),
    ]

    @Test(arguments: rows)
    func eachRow(summary: String, moves: [(move: Move, result: String)]) {
        var turn = StepTurn()
        for (index, (move, expected)) in moves.enumerated() {
            let result = Self.result(of: move, &turn)
            #expect(result == expected, "\(summary): \(index)")
        }
    }

    private static func result(of move: Move, _ turn: inout StepTurn) -> String {
        let actions = HopMachine.Actions(move == .command ? nil : .prepare, command: .skip)
        switch move {
        case .step, .command, .asynchronousStep:
            let claimed = turn.claim(actions, asynchronously: move == .asynchronousStep)
            return claimed == nil ? "queued" : "perform"
        case .question:
            turn.takeForQuestion()
            return ""
        case .next:
            guard let queued = turn.next() else { return "end" }
            let kind = queued.actions.steps.isEmpty ? "command" : "step"
            return queued.mustDispatch ? "dispatch \(kind)" : kind
        }
    }
}
