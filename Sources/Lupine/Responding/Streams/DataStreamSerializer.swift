// SPDX-License-Identifier: MIT

public import Foundation

/// Converts each piece of a stream to a value. Called on the session's serialization queue.
public protocol DataStreamSerializer: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Returns the value of one piece. A thrown error becomes the result of that piece: an `AFError` unchanged, another error
    /// wrapped in `responseSerializationFailed(.customSerializationFailed)`.
    func serialize(_ data: Data) throws -> SerializedObject
}
