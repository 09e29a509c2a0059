// SPDX-License-Identifier: MIT

public import Foundation

/// Reads newline-delimited JSON (JSON Lines): the handler gets a result for each line.
///
/// A value of settings, to be given to any number of handlers and requests; each handler and attempt reads its stream on
/// its own. Lines end with a line feed, before which a carriage return is white space; empty lines are nothing, and the
/// last line needs no end. A line that cannot be decoded fails with `decodingFailed`, one that is longer than the limit
/// with `StreamLimitError`; either is a failure of its own, and the stream goes on with the next line. Where more than 16
/// lines of one piece fail, those behind the sixteenth fail with its error.
public struct NDJSONSerializer<T: Decodable & Sendable>: SpanningStreamSerializer {
    /// What decodes the lines.
    public let decoder: any DataDecoder
    /// The most bytes that a line may have.
    public let maximumLineLength: Int

    /// A serializer with these settings.
    ///
    /// - Parameters:
    ///   - decoder: What decodes the lines; any format will do whose values contain no line feeds.
    ///   - maximumLineLength: The most bytes that a line may have; 16 MiB by default.
    public init(decoder: any DataDecoder = JSONDecoder(), maximumLineLength: Int = 1 << 24) {
        self.decoder = decoder
        self.maximumLineLength = maximumLineLength
    }

    /// The value of one line. Throws `StreamLimitError.lineTooLong` before it looks at one that is longer than the limit.
    public func serialize(_ data: Data) throws -> T {
        guard data.count <= maximumLineLength else {
            throw StreamLimitError.lineTooLong(limit: maximumLineLength)
        }
        return try value(of: data)
    }

    /// The value of a line whose length has been looked at.
    func value(of data: Data) throws -> T {
        do { return try decoder.decode(T.self, from: data) } catch {
            throw AFError.decoding(error, of: data)
        }
    }

    /// A reader that holds back the line whose end has not come.
    public func makeReader() -> any DataStreamReader<T> { NDJSONReader(self) }
}

extension DataStreamSerializer {
    /// Reads newline-delimited JSON.
    public static func ndjson<T: Decodable & Sendable>(
        of type: T.Type, decoder: any DataDecoder = JSONDecoder(), maximumLineLength: Int = 1 << 24
    ) -> Self where Self == NDJSONSerializer<T> {
        NDJSONSerializer<T>(decoder: decoder, maximumLineLength: maximumLineLength)
    }
}
