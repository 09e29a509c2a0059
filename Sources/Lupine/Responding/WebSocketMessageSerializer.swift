// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Makes values of the messages of a web socket. Called on the serialization queue.
public protocol WebSocketMessageSerializer<Output, Failure>: Sendable {
    /// What it makes.
    associatedtype Output: Sendable
    /// What it throws.
    associatedtype Failure: Error = any Error

    /// The value of a message. Throws when it has none.
    func decode(_ message: URLSessionWebSocketTask.Message) throws -> Output
}

extension WebSocketMessageSerializer {
    /// Decodes messages as JSON.
    public static func json<Value: Decodable & Sendable>(
        decoding _: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
    ) -> DecodableWebSocketMessageDecoder<Value> where Self == DecodableWebSocketMessageDecoder<Value> {
        Self(decoder: decoder)
    }
}
