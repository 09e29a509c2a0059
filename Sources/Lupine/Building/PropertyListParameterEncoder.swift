// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes a value as a property list into the body, whatever the method is.
///
/// Used on any thread, as its `PropertyListEncoder` may be while nobody changes it. It can be subclassed, so the compiler
/// cannot see that it is `Sendable`: all it stores is one constant.
open class PropertyListParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// A property list in the encoder's own form, which is binary.
    public static var `default`: PropertyListParameterEncoder { PropertyListParameterEncoder() }
    /// A property list in XML.
    public static var xml: PropertyListParameterEncoder { make(.xml) }
    /// A property list in the binary form.
    public static var binary: PropertyListParameterEncoder { make(.binary) }

    /// What writes the property list.
    public let encoder: PropertyListEncoder

    /// A parameter encoder that writes with `encoder`.
    public init(encoder: PropertyListEncoder = PropertyListEncoder()) { self.encoder = encoder }

    /// The request with its parameters. Throws `parameterEncoderFailed(reason: .encoderFailed)` with the encoder's
    /// error.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            let body = try encoder.encode(parameters)
            if request.value(forHTTPHeaderField: "Content-Type") == nil {
                request.setValue("application/x-plist", forHTTPHeaderField: "Content-Type")
            }
            request.httpBody = body
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        return request
    }

    private static func make(_ format: PropertyListSerialization.PropertyListFormat)
        -> PropertyListParameterEncoder
    {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        return PropertyListParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
    /// A new `PropertyListParameterEncoder`.
    public static var propertyList: PropertyListParameterEncoder { PropertyListParameterEncoder() }

    /// A new `PropertyListParameterEncoder` that writes with `encoder`.
    public static func propertyList(
        encoder: PropertyListEncoder = PropertyListEncoder()
    ) -> PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: encoder)
    }
}
