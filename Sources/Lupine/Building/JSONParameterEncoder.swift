// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Writes a value as JSON into the body, whatever the method is.
///
/// Used on any thread, as its `JSONEncoder` may be while nobody changes it. It can be subclassed, so the compiler cannot
/// see that it is `Sendable`: all it stores is one constant.
open class JSONParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// JSON in one line, keys in no particular order.
    public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }
    /// JSON in many lines.
    public static var prettyPrinted: JSONParameterEncoder { make(.prettyPrinted) }
    /// JSON in one line, keys sorted.
    public static var sortedKeys: JSONParameterEncoder { make(.sortedKeys) }

    /// What writes the JSON.
    public let encoder: JSONEncoder

    /// A parameter encoder that writes with `encoder`.
    public init(encoder: JSONEncoder = JSONEncoder()) { self.encoder = encoder }

    /// The request with its parameters. Throws `parameterEncodingFailed(reason: .jsonEncodingFailed)` with the
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
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return request
    }

    private static func make(_ formatting: JSONEncoder.OutputFormatting) -> JSONParameterEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// A new `JSONParameterEncoder`.
    public static var json: JSONParameterEncoder { JSONParameterEncoder() }

    /// A new `JSONParameterEncoder` that writes with `encoder`.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}
