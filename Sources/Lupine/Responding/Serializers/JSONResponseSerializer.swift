// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Converts a response's content from JSON to untyped dictionaries and arrays.
@available(*, deprecated, message: "Decode a type of your own with DecodableResponseSerializer.")
public final class JSONResponseSerializer: ResponseSerializer {
    /// Changes the content before it is serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// Options for reading the JSON.
    public let options: JSONSerialization.ReadingOptions

    /// Creates a serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .allowFragments
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.options = options
    }

    /// Returns the JSON object; `NSNull` when there is no content and an empty response is allowed. Throws
    /// `jsonSerializationFailed` when the content is not JSON.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Any {
        guard let content = try content(of: data, request: request, response: response, error: error) else {
            return NSNull()
        }
        do { return try JSONSerialization.jsonObject(with: content, options: options) } catch {
            throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
        }
    }
}
