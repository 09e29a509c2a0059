// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Converts the messages of a WebSocket to values. Called on the session's serialization queue.
public protocol WebSocketMessageSerializer<Output, Failure>: Sendable {
    /// The type of the values.
    associatedtype Output: Sendable
    /// The type of the errors.
    associatedtype Failure: Error = any Error

    /// Returns the value of a message. Throws when the message cannot be converted.
    func decode(_ message: URLSessionWebSocketTask.Message) throws -> Output
}

extension WebSocketMessageSerializer {
    /// Returns a serializer that decodes messages as JSON.
    public static func json<Value: Decodable & Sendable>(
        decoding _: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
    ) -> DecodableWebSocketMessageDecoder<Value> where Self == DecodableWebSocketMessageDecoder<Value> {
        Self(decoder: decoder)
    }
}
