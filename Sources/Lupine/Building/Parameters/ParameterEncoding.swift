// SPDX-License-Identifier: MIT

public import LupineLoading

/// Parameters of a request: names, and values of any type that the encoding supports.
public typealias Parameters = [String: any Any & Sendable]

/// Writes a dictionary of parameters into a request. For typed values see `ParameterEncoder`.
///
/// The session calls it on its request queue, each time that it creates the request, even if there are no parameters.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with its parameters. A thrown error fails the request: an `AFError` unchanged, another error wrapped
    /// in `createURLRequestFailed`.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
