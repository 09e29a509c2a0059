// SPDX-License-Identifier: MIT

public import LupineLoading

extension HTTPURLResponse {
    /// The header fields, in no particular order.
    public var headers: HTTPHeaders {
        (allHeaderFields as? [String: String]).map { HTTPHeaders($0) } ?? HTTPHeaders()
    }
}
