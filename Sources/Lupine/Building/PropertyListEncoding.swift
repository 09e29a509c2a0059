// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes parameters as a property list into the body, whatever the method is. Not for `Encodable` values; that is
/// `PropertyListParameterEncoder`. A value, used on any thread.
public struct PropertyListEncoding: ParameterEncoding {
    /// Why an object is not encoded.
    public enum Error: Swift.Error {
        /// A property list cannot hold it.
        case invalidPropertyList
    }

    /// A property list in XML.
    public static var `default`: PropertyListEncoding { PropertyListEncoding() }
    /// A property list in XML.
    public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }
    /// A property list in the binary form.
    public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

    /// Which form is written.
    public let format: PropertyListSerialization.PropertyListFormat
    /// How it is written. Foundation has no options as yet.
    public let options: PropertyListSerialization.WriteOptions

    /// An encoding that writes that form.
    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) {
        self.format = format
        self.options = options
    }

    /// The request with its parameters. Throws `parameterEncodingFailed(reason: .customEncodingFailed)` when a property
    /// list cannot hold them, and what the conversion throws.
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
