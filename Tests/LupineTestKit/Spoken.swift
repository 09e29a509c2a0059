// SPDX-License-Identifier: MIT

package import LupineTransport
import Testing

/// What is spoken in a whole-stack test that holds whatever is spoken: the parameter of such tests.
package enum Spoken: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case http1, http2

    package var testDescription: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }

    /// What a client is allowed to speak for it, without TLS.
    package var versions: HTTPVersions { self == .http1 ? .http11 : .http2 }

    /// What it is called in metrics.
    package var name: String { self == .http1 ? "http/1.1" : "h2" }
}
