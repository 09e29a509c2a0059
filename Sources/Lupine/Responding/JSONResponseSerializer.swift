// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Reads a response's content as JSON of any shape, into dictionaries and arrays.
@available(*, deprecated, message: "Decode a type of your own with DecodableResponseSerializer.")
public final class JSONResponseSerializer: ResponseSerializer {
    /// What the content goes through first.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// How the JSON is read.
    public let options: JSONSerialization.ReadingOptions

    /// A serializer with these settings.
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

    /// The JSON; `NSNull` when there is no content and may be none. Throws `jsonSerializationFailed` when the content is
    /// no JSON.
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
