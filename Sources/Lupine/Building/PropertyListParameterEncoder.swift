// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes a value as a property list into the body, whatever the method is.
///
/// Used on any thread, as its `PropertyListEncoder` may be while nobody changes it. It can be subclassed, so the compiler
/// cannot see that it is `Sendable`: all it stores is one constant.
open class PropertyListParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// A property list in XML, as that of `PropertyListEncoding`.
    public static var `default`: PropertyListParameterEncoder { PropertyListParameterEncoder() }
    /// A property list in XML.
    public static var xml: PropertyListParameterEncoder { PropertyListParameterEncoder() }
    /// A property list in the binary form.
    public static var binary: PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: makeEncoder(.binary))
    }

    /// What writes the property list.
    public let encoder: PropertyListEncoder

    /// A parameter encoder that writes with `encoder`, in the form that this is set to: without one XML. A
    /// `PropertyListEncoder` that nobody has set writes the binary form.
    public init(encoder: PropertyListEncoder = makeEncoder(.xml)) { self.encoder = encoder }

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

    @usableFromInline static func makeEncoder(
        _ format: PropertyListSerialization.PropertyListFormat
    ) -> PropertyListEncoder {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        return encoder
    }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
    /// A new `PropertyListParameterEncoder`, which writes XML.
    public static var propertyList: PropertyListParameterEncoder { PropertyListParameterEncoder() }

    /// A new `PropertyListParameterEncoder` that writes with `encoder`; without one it writes XML.
    public static func propertyList(
        encoder: PropertyListEncoder = PropertyListParameterEncoder.makeEncoder(.xml)
    ) -> PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: encoder)
    }
}
