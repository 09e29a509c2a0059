// SPDX-License-Identifier: MIT

public import LupineLoading

/// Writes an `Encodable` value into a request. For untyped dictionaries see `ParameterEncoding`.
///
/// Called on the session's request queue, each time that the request is created, but only if there are parameters.
public protocol ParameterEncoder: Sendable {
    /// Returns the request with its parameters; without parameters the request unchanged. A thrown error fails the request:
    /// an `AFError` as it is, another error as `createURLRequestFailed`.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest
}
