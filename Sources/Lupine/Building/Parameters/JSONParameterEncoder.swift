// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes a value as JSON into the body, for every method.
///
/// Can be used on any thread, as long as nothing changes its `JSONEncoder`. The class is `@unchecked Sendable` because the
/// compiler cannot verify an open class; its only stored property is a constant.
open class JSONParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder that writes JSON on one line, keys in no particular order.
    public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }
    /// An encoder that writes JSON on several lines, with indentation.
    public static var prettyPrinted: JSONParameterEncoder { makeParameterEncoder(.prettyPrinted) }
    /// An encoder that writes JSON on one line, keys sorted.
    public static var sortedKeys: JSONParameterEncoder { makeParameterEncoder(.sortedKeys) }

    /// The underlying encoder.
    public let encoder: JSONEncoder

    /// Creates a parameter encoder that uses `encoder`.
    public init(encoder: JSONEncoder = JSONEncoder()) { self.encoder = encoder }

    /// Returns the request with its parameters. Throws `parameterEncodingFailed(reason: .jsonEncodingFailed)` with the
    /// encoder's error.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            let body = try encoder.encode(parameters)
            if request.value(forHTTPHeaderField: "Content-Type") == nil {
                request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            }
            request.httpBody = body
        } catch {
            // As in Alamofire, the error is that of `JSONEncoding`, and not `parameterEncoderFailed`.
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return request
    }

    /// Returns a parameter encoder whose JSON has this formatting.
    private static func makeParameterEncoder(
        _ formatting: JSONEncoder.OutputFormatting
    ) -> JSONParameterEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// A new `JSONParameterEncoder`.
    public static var json: JSONParameterEncoder { JSONParameterEncoder() }

    /// Returns a new `JSONParameterEncoder` that uses `encoder`.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}
