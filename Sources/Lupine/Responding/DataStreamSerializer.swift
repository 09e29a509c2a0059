// SPDX-License-Identifier: MIT

public import Foundation

/// Makes a value of each piece of a stream. Called on the session's serialization queue.
public protocol DataStreamSerializer: Sendable {
    /// What is made.
    associatedtype SerializedObject: Sendable

    /// The value of one piece. What it throws is that piece's result: an `AFError` as it is, another error as
    /// `responseSerializationFailed(.customSerializationFailed)`.
    func serialize(_ data: Data) throws -> SerializedObject
}
