// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineTransport

extension URLProtectionSpace {
    /// Whether the space belongs to the server of a URL: host, port and use of TLS are the same. Always false for a proxy's
    /// space.
    ///
    /// A caller checks this before it sends a credential that is meant for the URL: a redirect may have led to another server,
    /// which sends the challenge (RFC 9110 §15.4).
    package func isOfServer(at url: URL?) -> Bool {
        guard !isProxy(), let origin = WebOrigin(url) else { return false }
        return origin.host == HostName.canonical(host) && origin.port == port
            && origin.isSecure == (`protocol` == NSURLProtectionSpaceHTTPS || `protocol` == "wss")
    }
}
