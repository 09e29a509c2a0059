// SPDX-License-Identifier: MIT

internal import Foundation
public import LupineLoading

/// Decodes the messages of a web socket: data as they are, text as UTF-8.
public struct DecodableWebSocketMessageDecoder<Value: Decodable & Sendable>: WebSocketMessageSerializer {
    /// Why a message has no value.
    public enum Error: Swift.Error {
        /// The decoder failed.
        case decoding(any Swift.Error)
        /// The message is of a kind that is not known. Not thrown as long as all kinds are known.
        case unknownMessage(description: String)
    }

    /// What decodes.
    public let decoder: any DataDecoder

    /// A decoder of messages that uses a decoder of data.
    public init(decoder: any DataDecoder) { self.decoder = decoder }

    /// The value of a message. Throws `Error`.
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
