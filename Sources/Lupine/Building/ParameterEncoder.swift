// SPDX-License-Identifier: MIT

public import LupineLoading

/// Writes an `Encodable` value into a request. For dictionaries of any values see `ParameterEncoding`.
///
/// Called on the session's request queue, each time that the request is made, but only when there are parameters.
public protocol ParameterEncoder: Sendable {
    /// The request with its parameters; without parameters the request as it is. What it throws fails the request: an
    /// `AFError` as it is, another error as `createURLRequestFailed`.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest
}
