// SPDX-License-Identifier: MIT

public import Foundation

/// Decodes each piece of a stream on its own: for servers that send one value at a time and pause in between.
///
/// Where values may arrive cut or joined the server has to say where they end: see `NDJSONSerializer`.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
    /// What decodes the pieces.
    public let decoder: any DataDecoder
    /// What each piece goes through first.
    public let dataPreprocessor: any DataPreprocessor

    /// A serializer with these settings.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    /// The piece's value. Throws `decodingFailed` when the decoder fails, and what the preprocessor throws.
    public func serialize(_ data: Data) throws -> T {
        let content = try dataPreprocessor.preprocess(data)
        do { return try decoder.decode(T.self, from: content) } catch {
            throw AFError.decoding(error, of: content)
        }
    }
}

extension DataStreamSerializer {
    /// Decodes each piece into `type`.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type, decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> Self where Self == DecodableStreamSerializer<T> {
        DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}
