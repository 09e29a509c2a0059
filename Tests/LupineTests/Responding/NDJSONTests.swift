// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// Newline-delimited JSON, regardless of the pieces in which it arrives.
@Suite struct NDJSONTests {
    /// A value, or the failure of a line.
    enum Outcome: Equatable, Sendable {
        case value(String)
        case undecodable
        case tooLong
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let expected: [Outcome]

        init(_ name: String, _ text: String, _ expected: Outcome...) {
            testDescription = name
            self.text = text
            self.expected = expected
        }
    }

    static let rows = [
        Row("nothing", ""),
        Row("two lines", "{\"n\":\"a\"}\n{\"n\":\"b\"}\n", .value("a"), .value("b")),
        Row("the last line needs no end", "{\"n\":\"a\"}\n{\"n\":\"b\"}", .value("a"), .value("b")),
        Row(
            "carriage returns before the ends", "{\"n\":\"a\"}\r\n{\"n\":\"b\"}\r\n", .value("a"), .value("b")
        ),
        Row("empty lines are nothing", "\n \n\r\n{\"n\":\"a\"}\n\t\n\n", .value("a")),
        Row("a mark", "\u{FEFF}{\"n\":\"a\"}\n", .value("a")),
        Row(
            "a bad line fails alone", "{\"n\":\"a\"}\n{\"n\"\n{\"n\":\"b\"}\n", .value("a"), .undecodable,
            .value("b")),
        Row("a line of another type", "[]\n{\"n\":\"b\"}\n", .undecodable, .value("b")),
        Row("a cut last line", "{\"n\":\"a\"}\n{\"n\":", .value("a"), .undecodable),
        Row("letters of several bytes", "{\"n\":\"é€𝄞\"}\n", .value("é€𝄞")),
        Row(
            "a long line fails alone", "{\"n\":\"0123456789abcdef\"}\n{\"n\":\"b\"}\n", .tooLong, .value("b")),
        Row("a line at the limit", "{\"n\":\"0123456789ab\"}\n", .value("0123456789ab")),
        Row("a long line that never ends", "{\"n\":\"0123456789abcdef", .tooLong),
    ]

    private static func outcomes(_ pieces: [Data]) -> [Outcome] {
        var reader = NDJSONSerializer<[String: String]>(maximumLineLength: 20).makeReader()
        let results = pieces.flatMap { reader.read($0) } + reader.finish()
        return results.map { result in
            switch result {
            case .success(let value): return .value(value["n"] ?? "")
            case .failure(let error):
                if error as? StreamLimitError == .lineTooLong(limit: 20) { return .tooLong }
                return .undecodable
            }
        }
    }

    @Test("after sixteen failing lines of a chunk, further ones share the last error")
    func manyFailures() {
        var reader = NDJSONSerializer<[String: String]>().makeReader()
        let text = (0..<2_000).map { "x\($0)\n" }.joined() + "{\"n\":\"a\"}\n"
        let results = reader.read(Data(text.utf8))
        let texts = results.map { result -> String in
            switch result {
            case .success(let value): value["n"] ?? ""
            case .failure(let error): error.localizedDescription
            }
        }
        #expect(texts.count == 2_001 && texts.last == "a")
        #expect(Set(texts).count == 17)
        #expect(texts[14].contains("x14") && texts[15].contains("x15") && texts[1_999] == texts[15])
        // The next piece starts afresh.
        #expect("\(reader.read(Data("y\n".utf8)))".contains("y"))
    }

    @Test("a stream's values do not depend on how it is divided into chunks", arguments: rows)
    func cuts(_ row: Row) {
        let bytes = Data(row.text.utf8)
        for cut in 0...bytes.count {
            #expect(
                Self.outcomes([bytes.prefix(cut), bytes.dropFirst(cut)]) == row.expected, "cut at \(cut)")
        }
        #expect(Self.outcomes(bytes.map { Data([$0]) }) == row.expected)
    }

    @Test("a line that cannot be decoded fails with the decoder's error")
    func failure() {
        let results = NDJSONSerializer<Int>(decoder: SpyDecoder(.first)).reading("1\n")
        guard case .failure(let error)? = results.first,
            case .decodingFailed(let cause)? = error.serializationReason
        else {
            Issue.record("\(results)")
            return
        }
        #expect(cause as? ResponseTestError == .first)
    }

    @Test("the decoder receives each line, from its first byte")
    func lines() {
        let spy = SpyDecoder()
        let results = NDJSONSerializer<Int>(decoder: spy).reading("1\n22\n")
        #expect(results.compactMap { try? $0.get() } == [1, 22])
        #expect(spy.inputs == [Data("1".utf8), Data("22".utf8)])
        #expect(spy.inputs.allSatisfy { $0.startIndex == 0 })
    }
}

extension NDJSONSerializer {
    /// Returns the results for a text that arrives at once and does not end the stream.
    fileprivate func reading(_ text: String) -> [Result<T, any Error>] {
        var reader = makeReader()
        return reader.read(Data(text.utf8))
    }
}
