// SPDX-License-Identifier: MIT

public import Foundation

/// A type that can be converted to a `URL`. The session converts it when it performs the request, on its request queue.
public protocol URLConvertible: Sendable {
    /// Returns the URL. A thrown error fails the request: an `AFError` is used unchanged, another error becomes
    /// `createURLRequestFailed`.
    func asURL() throws -> URL
}
