// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The encoding in which text is decoded.
@Suite struct StringResponseSerializerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        var type: String?
        var asked: String.Encoding?
        let text: String
    }

    static let rows = [
        Row(testDescription: "Latin-1 without a response", bytes: [0xE9], text: "é"),
        Row(testDescription: "Latin-1 without a charset", bytes: [0xE9], type: "text/plain", text: "é"),
        Row(
            testDescription: "UTF-8 where it is named", bytes: [0xC3, 0xA9],
            type: "text/plain; charset=utf-8",
            text: "é"),
        Row(
            testDescription: "UTF-8 named in capitals", bytes: [0xC3, 0xA9],
            type: "text/plain; charset=UTF-8", text: "é"),
        Row(
            testDescription: "the type does not matter", bytes: [0xC3, 0xA9],
            type: "image/png; charset=utf-8",
            text: "é"),
        Row(
            testDescription: "utf8 is no name", bytes: [0xC3, 0xA9], type: "text/plain; charset=utf8",
            text: "Ã©"),
        Row(
            testDescription: "us-ascii is not known", bytes: [0xE9], type: "text/plain; charset=us-ascii",
            text: "é"),
        Row(
            testDescription: "windows-1252 is not known", bytes: [0x80],
            type: "text/plain; charset=windows-1252", text: "\u{80}"),
        Row(
            testDescription: "UTF-16 with a byte order", bytes: [0x20, 0xAC],
            type: "text/plain; charset=utf-16be", text: "€"),
        Row(
            testDescription: "UTF-32 with a byte order", bytes: [0xAC, 0x20, 0, 0],
            type: "text/plain; charset=utf-32le", text: "€"),
        Row(
            testDescription: "what is asked for goes before what is named", bytes: [0xC3, 0xA9],
            type: "text/plain; charset=iso-8859-1", asked: .utf8, text: "é"),
        Row(
            testDescription: "a quoted name", bytes: [0xC3, 0xA9], type: "a/b; charset=\"utf-8\"", text: "é"),
        Row(testDescription: "ASCII is text in Latin-1", bytes: [0x41, 0x00, 0x0A], text: "A\u{0}\n"),
    ]

    @Test(
        "[V-3.4, V-12.4] text has the requested encoding, else the declared one, else Latin-1",
        arguments: rows)
    func encodings(_ row: Row) throws {
        let serializer = StringResponseSerializer(encoding: row.asked)
        let response = try ResponseMaterial.response(type: row.type)
        let text = try serializer.serialize(
            request: nil, response: row.type == nil ? nil : response, data: Data(row.bytes), error: nil)
        #expect(text == row.text)
        let slice = Data([0x20] + row.bytes).dropFirst()
        #expect(
            try serializer.serialize(request: nil, response: response, data: slice, error: nil) == row.text)
    }

    @Test("[V-3.4] content that is not text in the encoding fails, and the error names the encoding")
    func failure() throws {
        let failure = thrown {
            _ = try StringResponseSerializer(encoding: .utf8).serialize(
                request: nil, response: nil, data: Data([0xFF, 0xFE]), error: nil)
        }
        guard case .stringSerializationFailed(let encoding)? = failure?.serializationReason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(encoding == .utf8)
    }

    @Test("[V-12.4] any byte is valid in Latin-1")
    func allBytes() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = try StringResponseSerializer().serialize(
            request: nil, response: nil, data: Data(bytes), error: nil)
        #expect(text.unicodeScalars.map(\.value) == bytes.map(UInt32.init))
    }
}
