// SPDX-License-Identifier: MIT

public import Foundation

/// A stream serializer whose values are independent of the pieces in which a stream arrives: a value may span several
/// pieces, and a piece may contain several values.
///
/// The serializer itself has no state: like every serializer it can be used for any number of handlers and requests. A reader
/// stores the incomplete value at the end of a piece. The request creates a reader for each handler and each attempt, so that
/// data of different handlers, or of different attempts, is not mixed. `serialize` converts complete data that contains one
/// value.
public protocol SpanningStreamSerializer<SerializedObject>: DataStreamSerializer {
    /// Returns a reader for the beginning of a stream.
    func makeReader() -> any DataStreamReader<SerializedObject>
}

/// Converts the pieces of one stream, in order, to values. Used by one thread at a time.
public protocol DataStreamReader<SerializedObject>: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Returns the values that the next piece completes, in order. The handler receives each as a separate result. After a
    /// failure, the stream continues with the same reader. An error other than an `AFError` is wrapped in
    /// `customSerializationFailed`.
    mutating func read(_ data: Data) -> [Result<SerializedObject, any Error>]

    /// Returns the remaining values after the last piece. Called only if the stream is complete, not if it was interrupted.
    mutating func finish() -> [Result<SerializedObject, any Error>]
}
