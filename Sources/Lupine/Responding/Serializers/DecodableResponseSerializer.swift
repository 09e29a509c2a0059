// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Decodes a response's content from JSON, or from the format of another decoder. The received data is not copied for the
/// decoder.
public final class DecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
    /// Changes the content before it is serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// Decodes the value.
    public let decoder: any DataDecoder
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.decoder = decoder
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Returns the decoded value. If there is no content and an empty response is allowed, returns the empty value of `T`; throws
    /// `invalidEmptyResponse` if `T` has none. Throws `decodingFailed` if the decoder fails.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> T {
        guard let content = try content(of: data, request: request, response: response, error: error) else {
            guard let type = T.self as? any EmptyResponse.Type, let value = type.emptyValue() as? T else {
                throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(T.self)"))
            }
            return value
        }
        do { return try decoder.decode(T.self, from: content) } catch {
            throw AFError.decoding(error, of: content)
        }
    }
}

extension ResponseSerializer {
    /// Returns a serializer that decodes the content as `type`.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DecodableResponseSerializer<T> where Self == DecodableResponseSerializer<T> {
        DecodableResponseSerializer<T>(
            dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}
