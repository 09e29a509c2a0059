// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// The decoding of messages as values.
struct DecodableWebSocketMessageDecoderTests {
    private typealias Decoder = DecodableWebSocketMessageDecoder<[String: String]>

    private struct Upper: DataDecoder {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            try JSONDecoder().decode(
                type, from: Data(String(decoding: data, as: UTF8.self).uppercased().utf8))
        }
    }

    @Test("[W-7] the decoder receives data unchanged and text as UTF-8", arguments: [true, false])
    func decodes(isText: Bool) throws {
        let text = #"{"a":"é"}"#
        let message = isText ? Message.string(text) : .data(Data(text.utf8))
        #expect(try Decoder(decoder: JSONDecoder()).decode(message) == ["a": "é"])
        #expect(try Decoder(decoder: Upper()).decode(message) == ["A": "É"])
    }

    @Test("[W-7] a message that cannot be decoded throws the decoder's error")
    func fails() {
        let error = #expect(throws: Decoder.Error.self) {
            try Decoder(decoder: JSONDecoder()).decode(.string("{"))
        }
        guard case .decoding(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is DecodingError)
    }

    @Test("`.json` creates the JSON serializer")
    func short() throws {
        func decode<Output>(
            with serializer: some WebSocketMessageSerializer<Output, any Error>, _ text: String
        ) throws -> Output { try serializer.decode(.string(text)) }
        #expect(try decode(with: .json(decoding: [Int].self), "[1,2]") == [1, 2])
    }
}
