// SPDX-License-Identifier: MIT

public import Foundation

/// Reads a stream as UTF-8 text. What is no UTF-8 becomes U+FFFD; a character that arrives in two pieces is given whole,
/// with the second.
public struct StringStreamSerializer: SpanningStreamSerializer {
    /// A serializer of that kind.
    public init() {}

    /// The text of `data` alone.
    public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }

    /// A reader that holds back what may be the beginning of a character.
    public func makeReader() -> any DataStreamReader<String> { UTF8StreamReader() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// Reads UTF-8 text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}
