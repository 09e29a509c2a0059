// SPDX-License-Identifier: MIT

public import LupineLoading

/// Parameters of a request: names, and values of any type that the encoding supports.
public typealias Parameters = [String: any Any & Sendable]

/// Writes a dictionary of parameters into a request. For typed values see `ParameterEncoder`.
///
/// Called on the session's request queue, each time that the request is created; also without parameters.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with its parameters. A thrown error fails the request: an `AFError` as it is, another error as
    /// `createURLRequestFailed`.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
