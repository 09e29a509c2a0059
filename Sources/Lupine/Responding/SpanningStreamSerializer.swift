// SPDX-License-Identifier: MIT

public import Foundation

/// A stream serializer whose values do not keep to the pieces in which a stream arrives: one may span several pieces, and
/// one piece may hold several.
///
/// The serializer itself only says how: like every serializer it is a value that may be given to any number of handlers
/// and requests. What is remembered from piece to piece is in a reader, and the request makes a reader for each handler
/// and for each attempt: nothing of one handler's stream, or of an attempt that failed, gets into another. Its `serialize`
/// takes data that is whole and holds one value.
public protocol SpanningStreamSerializer<SerializedObject>: DataStreamSerializer {
    /// A reader at the beginning of a stream.
    func makeReader() -> any DataStreamReader<SerializedObject>
}

/// Takes the pieces of one stream in order and gives its values. Used by one thread at a time.
public protocol DataStreamReader<SerializedObject>: Sendable {
    /// What is read.
    associatedtype SerializedObject: Sendable

    /// What the next piece completes, in the order of the stream. Each is a result of its own for the handler; a failure
    /// ends neither the stream nor the reader. An error that is no `AFError` becomes `customSerializationFailed`.
    mutating func read(_ data: Data) -> [Result<SerializedObject, any Error>]

    /// What was left when the stream ended as it should. Not called when the stream was cut off.
    mutating func finish() -> [Result<SerializedObject, any Error>]
}
