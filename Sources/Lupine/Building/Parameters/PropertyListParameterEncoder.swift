// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes a value as a property list into the body, for every method.
///
/// Can be used on any thread, as long as nothing changes its `PropertyListEncoder`. The class is `@unchecked Sendable` because
/// the compiler cannot verify an open class; its only stored property is a constant.
open class PropertyListParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder that writes XML, the default of `PropertyListEncoding`.
    public static var `default`: PropertyListParameterEncoder { PropertyListParameterEncoder() }
    /// An encoder that writes XML.
    public static var xml: PropertyListParameterEncoder { PropertyListParameterEncoder() }
    /// An encoder that writes the binary format.
    public static var binary: PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: makeEncoder(.binary))
    }

    /// The underlying encoder.
    public let encoder: PropertyListEncoder

    /// Creates a parameter encoder that uses `encoder` and its output format. The default encoder writes XML. In contrast, a new
    /// `PropertyListEncoder` of Foundation writes the binary format.
    public init(encoder: PropertyListEncoder = makeEncoder(.xml)) { self.encoder = encoder }

    /// Returns the request with its parameters. Throws `parameterEncoderFailed(reason: .encoderFailed)` with the encoder's
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

    /// Returns a new encoder that writes this format.
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

    /// Returns a new `PropertyListParameterEncoder` that uses `encoder`, which by default writes XML.
    public static func propertyList(
        encoder: PropertyListEncoder = PropertyListParameterEncoder.makeEncoder(.xml)
    ) -> PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: encoder)
    }
}
