// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes parameters as a property list into the body, for every method. For `Encodable` values see
/// `PropertyListParameterEncoder`. Can be used on any thread.
public struct PropertyListEncoding: ParameterEncoding {
    /// The reason why an object is not encoded.
    public enum Error: Swift.Error {
        /// The object cannot be represented in a property list.
        case invalidPropertyList
    }

    /// An encoding that writes XML.
    public static var `default`: PropertyListEncoding { PropertyListEncoding() }
    /// An encoding that writes XML.
    public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }
    /// An encoding that writes the binary format.
    public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

    /// The format to write.
    public let format: PropertyListSerialization.PropertyListFormat
    /// The writing options. Foundation defines no options.
    public let options: PropertyListSerialization.WriteOptions

    /// Creates an encoding that writes that format.
    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) {
        self.format = format
        self.options = options
    }

    /// Returns the request with its parameters. Throws `parameterEncodingFailed(reason: .customEncodingFailed)` when they
    /// cannot be represented in a property list, and any error of `asURLRequest()`.
    public func encode(
        _ urlRequest: any URLRequestConvertible, with parameters: Parameters?
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        do {
            guard PropertyListSerialization.propertyList(parameters, isValidFor: format) else {
                throw Error.invalidPropertyList
            }
            let body = try PropertyListSerialization.data(
                fromPropertyList: parameters, format: format, options: options)
            if request.value(forHTTPHeaderField: "Content-Type") == nil {
                request.setValue("application/x-plist", forHTTPHeaderField: "Content-Type")
            }
            request.httpBody = body
        } catch {
            throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
        }
        return request
    }
}
