// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes parameters as JSON into the body, whatever the method is. Not for `Encodable` values; that is
/// `JSONParameterEncoder`. A value, used on any thread.
public struct JSONEncoding: ParameterEncoding {
    /// Why an object is not encoded.
    public enum Error: Swift.Error {
        /// JSON cannot hold it.
        case invalidJSONObject

        /// What is wrong, and the likely reason.
        public var localizedDescription: String {
            """
            Invalid JSON object provided for parameter or object encoding. \
            This is most likely due to a value which can't be represented in Objective-C.
            """
        }
    }

    /// JSON in one line.
    public static var `default`: JSONEncoding { JSONEncoding() }
    /// JSON in many lines.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// How the JSON is written.
    public let options: JSONSerialization.WritingOptions

    /// An encoding that writes with these options.
    public init(options: JSONSerialization.WritingOptions = []) { self.options = options }

    /// The request with its parameters. Throws `parameterEncodingFailed(reason: .jsonEncodingFailed)` when JSON cannot
    /// hold them, and what the conversion throws.
    public func encode(
        _ urlRequest: any URLRequestConvertible, with parameters: Parameters?
    ) throws -> URLRequest {
        try encode(urlRequest, withJSONObject: parameters)
    }

    /// The request with a dictionary or an array as its body. Throws as `encode(_:with:)` does.
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
