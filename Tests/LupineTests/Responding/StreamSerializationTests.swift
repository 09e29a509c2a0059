// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// Serializers of streams: their state belongs to one handler and one attempt, and text is split only between characters.
@Suite struct StreamSerializationTests {
    @Test("a serializer of chunks is called once per chunk, and its errors are wrapped")
    func piecewise() {
        struct LengthSerializer: DataStreamSerializer {
            func serialize(_ data: Data) throws -> Int {
                if data.isEmpty { throw AFError.explicitlyCancelled }
                if data.count > 2 { throw ResponseTestError.first }
                return data.count
            }
        }
        let serialization = StreamSerialization(LengthSerializer())
        #expect(serialization.results(of: Data([1, 2]), attempt: 0).compactMap { try? $0.get() } == [2])
        guard case .failure(.explicitlyCancelled)? = serialization.results(of: Data(), attempt: 0).first,
            case .failure(let error)? = serialization.results(of: Data([1, 2, 3]), attempt: 0).first,
            case .customSerializationFailed(let cause)? = error.serializationReason
        else {
            Issue.record("an error of the library's stays, another is wrapped")
            return
        }
        #expect(cause as? ResponseTestError == .first)
        #expect(serialization.lastResults(attempt: 0).isEmpty)
    }

    @Test("two handlers can share a serializer without sharing state")
    func handlers() {
        let serializer = NDJSONSerializer<Int>()
        let first = StreamSerialization(serializer)
        let second = StreamSerialization(serializer)
        #expect(first.results(of: Data("1".utf8), attempt: 0).isEmpty)
        #expect(second.results(of: Data("2\n".utf8), attempt: 0).compactMap { try? $0.get() } == [2])
        #expect(first.results(of: Data("0\n".utf8), attempt: 0).compactMap { try? $0.get() } == [10])
    }

    @Test("a new attempt discards what the previous one left incomplete")
    func attempts() {
        let serialization = StreamSerialization(NDJSONSerializer<Int>())
        #expect(serialization.results(of: Data("1\n2".utf8), attempt: 0).compactMap { try? $0.get() } == [1])
        #expect(serialization.results(of: Data("3\n4".utf8), attempt: 1).compactMap { try? $0.get() } == [3])
        #expect(serialization.lastResults(attempt: 1).compactMap { try? $0.get() } == [4])
        #expect(serialization.lastResults(attempt: 1).isEmpty, "once")
    }

    @Test(
        "text is delivered in whole characters, which together are the stream's text",
        arguments: [
            Array("aé€𝄞z".utf8), [0xC3], [0xE2, 0x82], [0xF0, 0x9D, 0x84], [0x80, 0x80, 0x80, 0x80],
            [0xC3, 0x41], [0xE2, 0x82, 0x41], [0xF4, 0x90, 0x80, 0x80], [0xED, 0xA0, 0x80],
            [0xE0, 0x80, 0x80],
            [0xF0, 0x80, 0x80, 0x80], [0xC0, 0xAF], [0xFF, 0xFE, 0x41], [0xF1, 0x80, 0x80, 0xC3, 0xA9],
            [0xE1, 0x80, 0xE2, 0x82, 0xAC], [0xF5, 0x80], [],
        ] as [[UInt8]])
    func text(bytes: [UInt8]) {
        let expected = String(decoding: bytes, as: UTF8.self)
        for cut in 0...bytes.count {
            let pieces = [Data(bytes.prefix(cut)), Data(bytes.dropFirst(cut))]
            let texts = Self.texts(pieces)
            #expect(texts.joined() == expected, "cut at \(cut)")
            #expect(!texts.contains(""))
        }
        #expect(Self.texts(bytes.map { Data([$0]) }).joined() == expected)
    }

    @Test("a character in two chunks is delivered with the second")
    func character() {
        #expect(Self.texts([Data([0x61, 0xE2, 0x82]), Data([0xAC, 0x62])]) == ["a", "€b"])
        #expect(Self.texts([Data([0xE2]), Data([0x82]), Data([0xAC])]) == ["€"])
        // A complete character is delivered at once.
        for character in ["é", "ह", "€", "\u{D7FF}", "𝄞", "\u{10FFFF}"] {
            #expect(Self.texts([Data("a\(character)".utf8), Data("b".utf8)]) == ["a\(character)", "b"])
        }
        #expect(Self.texts([Data([0xE2]), Data([0x82])]) == ["\u{FFFD}"])
    }

    private static func texts(_ pieces: [Data]) -> [String] {
        var reader = UTF8StreamReader()
        return (pieces.flatMap { reader.read($0) } + reader.finish()).compactMap { try? $0.get() }
    }
}
