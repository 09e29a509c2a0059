// SPDX-License-Identifier: MIT

public import LupineLoading

/// Parameters of a request: names and values of any kind that the encoding understands.
public typealias Parameters = [String: any Any & Sendable]

/// Writes a dictionary of parameters into a request. For values with a type of their own see `ParameterEncoder`.
///
/// Called on the session's request queue, each time that the request is made; also without parameters.
public protocol ParameterEncoding: Sendable {
    /// The request with its parameters. What it throws fails the request: an `AFError` as it is, another error as
    /// `createURLRequestFailed`.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
