// SPDX-License-Identifier: MIT

package import LupineTransport
import Testing

/// The HTTP version of a whole-stack test that applies to both: the parameter of such tests.
package enum TestedHTTP: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case http1, http2

    package var testDescription: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }

    /// The versions that a client may use for it, without TLS.
    package var versions: HTTPVersions { self == .http1 ? .http11 : .http2 }

    /// The name of the protocol in metrics.
    package var name: String { self == .http1 ? "http/1.1" : "h2" }
}
