// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Tests of flow-control windows at their bounds (RFC 9113 §6.9).
@Suite struct FlowWindowTests {
    enum Step {
        case credit(Int)
        case debit(Int)
        case initial(from: Int, to: Int)
    }

    struct Row: CustomTestStringConvertible {
        let title: String
        let start: Int
        let steps: [Step]
        /// The size after the last step.
        let size: Int
        /// The error of the last step.
        let error: FlowControlError?
        var testDescription: String { title }

        init(
            _ title: String, from start: Int = FlowWindow.initial, _ steps: Step..., size: Int,
            _ error: FlowControlError? = nil
        ) {
            (self.title, self.start, self.steps, self.size, self.error) = (title, start, steps, size, error)
        }
    }

    static let largest = 0x7FFF_FFFF

    static let rows: [Row] = [
        Row("the initial window", size: 65_535),
        Row("the whole window", .debit(65_535), size: 0),
        Row(
            "[H-6.14] one octet too many", .debit(65_536), size: 65_535,
            .exceeded(window: 65_535, count: 65_536)),
        Row("an empty frame needs no room", from: 0, .debit(0), size: 0),
        Row("up to the largest size", .credit(0x7FFF_0000), size: largest),
        Row(
            "[H-6.16] one octet over the largest size", .credit(0x7FFF_0001), size: 65_535,
            .overflow(window: 65_535, increment: 0x7FFF_0001)),
        Row(
            "the largest increment to a full window", from: largest, .credit(largest), size: largest,
            .overflow(window: largest, increment: largest)),
        Row(
            "the largest integer as an increment", from: 0, .credit(.max), size: 0,
            .overflow(window: 0, increment: .max)),
        Row(
            "[H-6.17] a setting makes a window negative", .debit(60_000), .initial(from: 65_535, to: 16_384),
            size: -43_616),
        Row(
            "no room in a negative window", from: 0, .initial(from: 1, to: 0), .debit(1), size: -1,
            .exceeded(window: -1, count: 1)),
        Row("an empty frame in a negative window", from: 0, .initial(from: 1, to: 0), .debit(0), size: -1),
        Row(
            "[H-6.17] a negative window grows again", .debit(65_535),
            .initial(from: 65_535, to: 0), .credit(65_536), size: 1),
        Row(
            "the smallest window and the largest increment", from: 0, .initial(from: largest, to: 0),
            .credit(largest), size: 0),
        Row(
            "[H-6.16] a setting takes a window over the largest", from: largest,
            .initial(from: 65_535, to: 65_536), size: largest, .overflow(window: largest, increment: 1)),
        Row("a setting takes a window to the largest", .initial(from: 65_535, to: largest), size: largest),
        Row("the initial size is limited", from: .max, size: largest),
    ]

    @Test(arguments: rows) func steps(_ row: Row) {
        var window = FlowWindow(row.start)
        var error: FlowControlError?
        for step in row.steps {
            #expect(error == nil)
            do throws(FlowControlError) {
                switch step {
                case .credit(let count): try window.credit(count)
                case .debit(let count): try window.debit(count)
                case .initial(let old, let new): try window.changeInitial(from: old, to: new)
                }
            } catch let thrown {
                error = thrown
            }
        }
        #expect(error == row.error)
        #expect(window.size == row.size)
        #expect(window.available == max(row.size, 0))
    }
}
