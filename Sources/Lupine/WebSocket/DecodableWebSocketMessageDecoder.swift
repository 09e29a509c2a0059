// SPDX-License-Identifier: MIT

internal import Foundation
public import LupineLoading

/// Decodes the messages of a WebSocket with a `DataDecoder`. The decoder receives the bytes of a binary message, or the UTF-8 of
/// a text message.
public struct DecodableWebSocketMessageDecoder<Value: Decodable & Sendable>: WebSocketMessageSerializer {
    /// The reason why a message could not be decoded.
    public enum Error: Swift.Error {
        /// The decoder failed.
        case decoding(any Swift.Error)
        /// The message is of an unknown kind. Never thrown, because a message is always data or text.
        case unknownMessage(description: String)
    }

    /// Decodes the values.
    public let decoder: any DataDecoder

    /// Creates a message decoder that uses `decoder`.
    public init(decoder: any DataDecoder) { self.decoder = decoder }

    /// Returns the value of a message. Throws `Error.decoding` if the decoder fails.
    public func decode(_ message: URLSessionWebSocketTask.Message) throws -> Value {
        let data =
            switch message {
            case .data(let data): data
            case .string(let text): Data(text.utf8)
            }
        do {
            return try decoder.decode(Value.self, from: data)
        } catch {
            throw Error.decoding(error)
        }
    }
}
