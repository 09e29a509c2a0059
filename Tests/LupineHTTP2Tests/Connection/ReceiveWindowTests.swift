// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// When the receiver sends WINDOW_UPDATE: RFC 9113 §6.9.
@Suite struct ReceiveWindowTests {
    enum Step {
        case take(Int)
        case give(Int, said: Int)
        case raise(Int, said: Int)
        case change(Int)
    }

    struct Row: CustomTestStringConvertible {
        let shows: String
        let size: Int
        let steps: [Step]
        let available: Int
        let target: Int
        var testDescription: String { shows }
    }

    static let rows: [Row] = [
        Row(
            shows: "nothing is told below half", size: 100, steps: [.take(40), .give(39, said: 0)],
            available: 60, target: 100),
        Row(
            shows: "as much as is left is told, though most is held", size: 100,
            steps: [.take(90), .give(9, said: 0), .give(1, said: 10)], available: 20, target: 100),
        Row(
            shows: "half is told", size: 100, steps: [.take(60), .give(20, said: 0), .give(30, said: 50)],
            available: 90, target: 100),
        Row(
            shows: "half a mebibyte is told, however large the window", size: 8 << 20,
            steps: [.take(1 << 20), .give((512 << 10) - 1, said: 0), .give(1, said: 512 << 10)],
            available: (8 << 20) - (512 << 10), target: 8 << 20),
        Row(
            shows: "a window of one octet", size: 1, steps: [.take(1), .give(1, said: 1)], available: 1,
            target: 1),
        Row(
            shows: "a window of nothing", size: 0, steps: [.give(0, said: 0), .raise(5, said: 5)],
            available: 5, target: 5),
        Row(
            shows: "raised with what is owed", size: 100,
            steps: [.take(30), .give(30, said: 0), .raise(150, said: 80)], available: 150, target: 150),
        Row(
            shows: "raised to less", size: 100, steps: [.raise(100, said: 0), .raise(50, said: 0)],
            available: 100, target: 100),
        Row(
            shows: "raised to the largest", size: 100, steps: [.raise(.max, said: (1 << 30) - 100)],
            available: 1 << 30, target: 1 << 30),
        Row(
            shows: "a setting adds", size: 100, steps: [.take(100), .change(10)], available: 10, target: 110),
        Row(
            shows: "a setting takes the window below zero", size: 100,
            steps: [.take(100), .change(-60), .give(100, said: 100)], available: 40, target: 40),
        Row(
            shows: "a setting adds to a raised window", size: 100,
            steps: [.raise(500, said: 400), .change(50), .raise(540, said: 0)], available: 550, target: 550),
    ]

    @Test(arguments: rows) func moves(_ row: Row) throws {
        var window = ReceiveWindow(row.size)
        var unconsumed = 0
        for step in row.steps {
            switch step {
            case .take(let count):
                try window.debit(count)
                unconsumed += count
            case .give(let count, let said):
                #expect(window.release(count) == said)
                unconsumed -= count
            case .raise(let size, let said): #expect(window.raise(to: size) == said)
            case .change(let difference): _ = window.change(by: difference)
            }
        }
        #expect(window.available == row.available)
        #expect(window.target == row.target)
        if window.available > 0 {
            #expect(window.available + window.pendingIncrement + unconsumed == window.target)
        }
    }

    @Test func moreThanThereIsRoomFor() {
        var window = ReceiveWindow(10)
        #expect(throws: FlowControlError.exceeded(window: 10, count: 11)) { try window.debit(11) }
        #expect(window.available == 10)
    }
}
