// SPDX-License-Identifier: MIT

public import Foundation

/// Converts a stream to text, read as UTF-8. Invalid UTF-8 becomes U+FFFD; a character that arrives in two pieces is
/// delivered whole, with the second.
public struct StringStreamSerializer: SpanningStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the text of `data`, without regard to other pieces.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }

    /// Returns a reader that buffers an incomplete character at the end of a piece.
    public func makeReader() -> any DataStreamReader<String> { UTF8StreamReader() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// A serializer of UTF-8 text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}
