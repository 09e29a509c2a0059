// SPDX-License-Identifier: MIT

public import LupineLoading

/// Writes an `Encodable` value into a request. For untyped dictionaries see `ParameterEncoding`.
///
/// The session calls it on its request queue, each time that it creates the request, but only if there are parameters.
public protocol ParameterEncoder: Sendable {
    /// Returns the request with its parameters; the unchanged request if `parameters` is nil. A thrown error fails the request:
    /// an `AFError` unchanged, another error wrapped in `createURLRequestFailed`.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest
}
