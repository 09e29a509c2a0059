// SPDX-License-Identifier: MIT

public import Foundation

/// Decodes each piece of a stream separately, for servers that send one value at a time and pause in between.
///
/// The network may divide a value into several pieces, or join several values to one piece. If that can happen, the server must
/// mark where each value ends: see `NDJSONSerializer`.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
    /// Decodes each piece.
    public let decoder: any DataDecoder
    /// Changes each piece before it is decoded.
    public let dataPreprocessor: any DataPreprocessor

    /// Creates a serializer.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    /// Returns the piece's value. Throws `decodingFailed` when the decoder fails, and any error of the preprocessor.
    public func serialize(_ data: Data) throws -> T {
        let content = try dataPreprocessor.preprocess(data)
        do { return try decoder.decode(T.self, from: content) } catch {
            throw AFError.decoding(error, of: content)
        }
    }
}

extension DataStreamSerializer {
    /// Returns a serializer that decodes each piece as `type`.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type, decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> Self where Self == DecodableStreamSerializer<T> {
        DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}
