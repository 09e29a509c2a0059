// SPDX-License-Identifier: MIT

public import Foundation

/// Decodes newline-delimited JSON (JSON Lines): the handler receives a result for each line.
///
/// The serializer contains only settings, so it can be used for any number of handlers and requests. Each handler and attempt
/// reads its stream independently. Lines end with a line feed; a carriage return before it is white space. Empty lines are
/// ignored, and the last line needs no line feed.
///
/// A line that cannot be decoded fails with `decodingFailed`. A line that is longer than the limit fails with `StreamLimitError`.
/// After a failure the stream continues with the next line. If more than 16 lines of one piece fail, the later ones fail with the
/// error of the sixteenth.
public struct NDJSONSerializer<T: Decodable & Sendable>: SpanningStreamSerializer {
    /// Decodes the lines.
    public let decoder: any DataDecoder
    /// The maximum length of a line in bytes.
    public let maximumLineLength: Int

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - decoder: Decodes the lines. It may use any format whose values contain no line feeds.
    ///   - maximumLineLength: The maximum length of a line in bytes; 16 MiB by default.
    public init(decoder: any DataDecoder = JSONDecoder(), maximumLineLength: Int = 1 << 24) {
        self.decoder = decoder
        self.maximumLineLength = maximumLineLength
    }

    /// Returns the value of one line. Throws `StreamLimitError.lineTooLong` for a line that is longer than the limit,
    /// without decoding it.
    public func serialize(_ data: Data) throws -> T {
        guard data.count <= maximumLineLength else {
            throw StreamLimitError.lineTooLong(limit: maximumLineLength)
        }
        return try value(of: data)
    }

    /// Returns the value of a line whose length has been checked.
    func value(of data: Data) throws -> T {
        do { return try decoder.decode(T.self, from: data) } catch {
            throw AFError.decoding(error, of: data)
        }
    }

    /// Returns a reader that buffers an incomplete line.
    public func makeReader() -> any DataStreamReader<T> { NDJSONReader(self) }
}

extension DataStreamSerializer {
    /// Returns a serializer of newline-delimited JSON.
    public static func ndjson<T: Decodable & Sendable>(
        of type: T.Type, decoder: any DataDecoder = JSONDecoder(), maximumLineLength: Int = 1 << 24
    ) -> Self where Self == NDJSONSerializer<T> {
        NDJSONSerializer<T>(decoder: decoder, maximumLineLength: maximumLineLength)
    }
}
