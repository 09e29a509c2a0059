// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Tests of when a receiver sends WINDOW_UPDATE (RFC 9113 §6.9).
@Suite struct ReceiveWindowTests {
    enum Step {
        /// That many octets arrive.
        case receive(Int)
        /// The owner consumes that many octets; the window returns an increment, or zero.
        case consume(Int, increment: Int)
        /// The owner raises the window to a size; the window returns an increment, or zero.
        case raise(Int, increment: Int)
        /// A setting changes the window by that much.
        case change(Int)
    }

    struct Row: CustomTestStringConvertible {
        let title: String
        let size: Int
        let steps: [Step]
        let available: Int
        let target: Int
        var testDescription: String { title }
    }

    static let rows: [Row] = [
        Row(
            title: "no update below half of the window", size: 100,
            steps: [.receive(40), .consume(39, increment: 0)],
            available: 60, target: 100),
        Row(
            title: "an update of as much as is left, although most is not consumed", size: 100,
            steps: [.receive(90), .consume(9, increment: 0), .consume(1, increment: 10)], available: 20,
            target: 100),
        Row(
            title: "an update at half of the window", size: 100,
            steps: [.receive(60), .consume(20, increment: 0), .consume(30, increment: 50)],
            available: 90, target: 100),
        Row(
            title: "an update at half a mebibyte of a large window", size: 8 << 20,
            steps: [
                .receive(1 << 20), .consume((512 << 10) - 1, increment: 0), .consume(1, increment: 512 << 10),
            ],
            available: (8 << 20) - (512 << 10), target: 8 << 20),
        Row(
            title: "a window of one octet", size: 1, steps: [.receive(1), .consume(1, increment: 1)],
            available: 1,
            target: 1),
        Row(
            title: "a window of zero", size: 0, steps: [.consume(0, increment: 0), .raise(5, increment: 5)],
            available: 5, target: 5),
        Row(
            title: "raising adds the pending increment", size: 100,
            steps: [.receive(30), .consume(30, increment: 0), .raise(150, increment: 80)], available: 150,
            target: 150),
        Row(
            title: "raising to less changes nothing", size: 100,
            steps: [.raise(100, increment: 0), .raise(50, increment: 0)],
            available: 100, target: 100),
        Row(
            title: "raising to the largest size", size: 100,
            steps: [.raise(.max, increment: (1 << 30) - 100)],
            available: 1 << 30, target: 1 << 30),
        Row(
            title: "a setting adds", size: 100, steps: [.receive(100), .change(10)], available: 10,
            target: 110),
        Row(
            title: "a setting makes the window negative", size: 100,
            steps: [.receive(100), .change(-60), .consume(100, increment: 100)], available: 40, target: 40),
        Row(
            title: "a setting adds to a raised window", size: 100,
            steps: [.raise(500, increment: 400), .change(50), .raise(540, increment: 0)], available: 550,
            target: 550),
    ]

    @Test(arguments: rows) func steps(_ row: Row) throws {
        var window = ReceiveWindow(row.size)
        var unconsumed = 0
        for step in row.steps {
            switch step {
            case .receive(let count):
                try window.debit(count)
                unconsumed += count
            case .consume(let count, let increment):
                #expect(window.release(count) == increment)
                unconsumed -= count
            case .raise(let size, let increment): #expect(window.raise(to: size) == increment)
            case .change(let difference): _ = window.change(by: difference)
            }
        }
        #expect(window.available == row.available)
        #expect(window.target == row.target)
        if window.available > 0 {
            #expect(window.available + window.pendingIncrement + unconsumed == window.target)
        }
    }

    @Test func moreThanTheWindowIsAnError() {
        var window = ReceiveWindow(10)
        #expect(throws: FlowControlError.exceeded(window: 10, count: 11)) { try window.debit(11) }
        #expect(window.available == 10)
    }
}
