// SPDX-License-Identifier: MIT

public import Foundation

/// Converts a stream of UTF-8 to text. Invalid UTF-8 becomes U+FFFD. A character that is divided between two pieces is delivered
/// with the second piece.
public struct StringStreamSerializer: SpanningStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns the text of `data`, as if it were the whole stream.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }

    /// Returns a reader that buffers an incomplete character at the end of a piece.
    public func makeReader() -> any DataStreamReader<String> { UTF8StreamReader() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// A serializer of UTF-8 text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}
