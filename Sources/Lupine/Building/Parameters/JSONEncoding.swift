// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes parameters as JSON into the body, for every method. For `Encodable` values see `JSONParameterEncoder`. Can
/// be used on any thread.
public struct JSONEncoding: ParameterEncoding {
    /// The reason why an object is not encoded.
    public enum Error: Swift.Error {
        /// The object cannot be represented in JSON.
        case invalidJSONObject

        /// The error and its likely cause.
        public var localizedDescription: String {
            """
            Invalid JSON object provided for parameter or object encoding. \
            This is most likely due to a value which can't be represented in Objective-C.
            """
        }
    }

    /// An encoding that writes JSON on one line.
    public static var `default`: JSONEncoding { JSONEncoding() }
    /// An encoding that writes JSON on several lines, with indentation.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// The writing options.
    public let options: JSONSerialization.WritingOptions

    /// Creates an encoding with these writing options.
    public init(options: JSONSerialization.WritingOptions = []) { self.options = options }

    /// Returns the request with its parameters. Throws `parameterEncodingFailed(reason: .jsonEncodingFailed)` when they
    /// cannot be represented in JSON, and any error of `asURLRequest()`.
    public func encode(
        _ urlRequest: any URLRequestConvertible, with parameters: Parameters?
    ) throws -> URLRequest {
        try encode(urlRequest, withJSONObject: parameters)
    }

    /// Returns the request with a dictionary or an array as its body. Throws as `encode(_:with:)` does.
    public func encode(
        _ urlRequest: any URLRequestConvertible, withJSONObject jsonObject: Any? = nil
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let jsonObject else { return request }
        guard JSONSerialization.isValidJSONObject(jsonObject) else {
            throw AFError.parameterEncodingFailed(
                reason: .jsonEncodingFailed(error: Error.invalidJSONObject))
        }
        do {
            let body = try JSONSerialization.data(withJSONObject: jsonObject, options: options)
            if request.value(forHTTPHeaderField: "Content-Type") == nil {
                request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            }
            request.httpBody = body
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return request
    }
}
