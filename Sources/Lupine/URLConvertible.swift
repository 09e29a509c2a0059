// SPDX-License-Identifier: MIT

public import Foundation

/// A type that can be converted to a `URL`. It is converted when the request is performed, on the session's request queue.
public protocol URLConvertible: Sendable {
    /// Returns the URL. A thrown error fails the request: an `AFError` is used unchanged, another error becomes
    /// `createURLRequestFailed`.
    func asURL() throws -> URL
}
