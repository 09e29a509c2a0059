// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The splitting of a stream into lines, regardless of the pieces in which it arrives.
@Suite struct LineSplitterTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        var ending = LineSplitter.Ending.lineFeedOrReturn
        var limit = 64
        /// The lines that are complete; nil for one that is too long.
        let lines: [String?]
        /// The lines that the end of the stream completes.
        var last: [String?] = []
    }

    static let rows = [
        Row(testDescription: "nothing", text: "", lines: []),
        Row(testDescription: "line feeds", text: "a\nbc\n", lines: ["a", "bc"]),
        Row(testDescription: "carriage returns", text: "a\rbc\r", lines: ["a", "bc"]),
        Row(testDescription: "both together", text: "a\r\nbc\r\n", lines: ["a", "bc"]),
        Row(testDescription: "all mixed", text: "a\n\rb\r\r\nc\n\n", lines: ["a", "", "b", "", "c", ""]),
        Row(
            testDescription: "only line feeds", text: "a\rb\r\nc", ending: .lineFeed, lines: ["a\rb\r"],
            last: ["c"]),
        Row(testDescription: "the last line", text: "a\nb", lines: ["a"], last: ["b"]),
        Row(testDescription: "a mark", text: "\u{FEFF}a\n\u{FEFF}b\n", lines: ["a", "\u{FEFF}b"]),
        Row(testDescription: "two marks", text: "\u{FEFF}\u{FEFF}a\n", lines: ["\u{FEFF}a"]),
        Row(testDescription: "a mark alone", text: "\u{FEFF}\n", lines: [""]),
        Row(testDescription: "a mark at the end", text: "\u{FEFF}", lines: [], last: [""]),
        Row(testDescription: "at the limit", text: "abcd\nefgh\n", limit: 4, lines: ["abcd", "efgh"]),
        Row(testDescription: "one over", text: "abcde\nfgh\n", limit: 4, lines: [nil, "fgh"]),
        Row(testDescription: "far over", text: "abcdefghijklmn\nf\n", limit: 4, lines: [nil, "f"]),
        Row(testDescription: "over and never ended", text: "a\nbcdefghi", limit: 4, lines: ["a", nil]),
        Row(testDescription: "a mark counts for nothing", text: "\u{FEFF}abcd\n", limit: 4, lines: ["abcd"]),
        Row(testDescription: "a mark and one over", text: "\u{FEFF}abcde\nf\n", limit: 4, lines: [nil, "f"]),
        Row(
            testDescription: "a mark counts on the second line", text: "\n\u{FEFF}ab\n", limit: 4,
            lines: ["", nil]),
    ]

    @Test("lines are the same at every cut, and byte by byte", arguments: rows)
    func cuts(_ row: Row) {
        let bytes = Data(row.text.utf8)
        let expected = row.lines.map { $0.map { Data($0.utf8) } }
        let last = row.last.map { $0.map { Data($0.utf8) } }
        for cut in 0...bytes.count {
            let result = Self.lines(row, [bytes.prefix(cut), bytes.dropFirst(cut)])
            #expect(result.ended == expected, "cut at \(cut)")
            #expect(result.last == last, "cut at \(cut)")
        }
        let single = Self.lines(row, bytes.map { Data([$0]) })
        #expect(single.ended == expected)
        #expect(single.last == last)
        let parted = Self.lines(row, bytes.flatMap { [Data(), Data([$0])] })
        #expect(parted.ended == expected, "with empty pieces between")
    }

    private static func lines(_ row: Row, _ pieces: [Data]) -> (ended: [Data?], last: [Data?]) {
        var splitter = LineSplitter(ending: row.ending, limit: row.limit)
        var ended: [Data?] = []
        var last: [Data?] = []
        for piece in pieces { splitter.split(piece) { ended.append(line($0)) } }
        splitter.finish { last.append(line($0)) }
        return (ended, last)
    }

    private static func line(_ line: LineSplitter.Line) -> Data? {
        guard case .complete(let bytes) = line else { return nil }
        return bytes
    }
}
