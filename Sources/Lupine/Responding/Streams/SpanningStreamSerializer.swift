// SPDX-License-Identifier: MIT

public import Foundation

/// A stream serializer whose values are independent of the pieces in which a stream arrives: a value may span several
/// pieces, and a piece may contain several values.
///
/// The serializer itself has no state: like every serializer it can be used for any number of handlers and requests. The
/// state between pieces is kept in a reader. The request creates a reader for each handler and each attempt, so that no data
/// of one handler's stream, or of a failed attempt, gets into another. `serialize` takes complete data that contains one
/// value.
public protocol SpanningStreamSerializer<SerializedObject>: DataStreamSerializer {
    /// Returns a reader for the beginning of a stream.
    func makeReader() -> any DataStreamReader<SerializedObject>
}

/// Converts the pieces of one stream, in order, to values. Used by one thread at a time.
public protocol DataStreamReader<SerializedObject>: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Returns the values that the next piece completes, in order. The handler gets each as a separate result; a failure
    /// ends neither the stream nor the reader. An error other than an `AFError` becomes `customSerializationFailed`.
    mutating func read(_ data: Data) -> [Result<SerializedObject, any Error>]

    /// Returns the remaining values after the stream has ended regularly. Not called when the stream was interrupted.
    mutating func finish() -> [Result<SerializedObject, any Error>]
}
