// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineTransport

extension URLProtectionSpace {
    /// Whether the space belongs to the server of a URL: same host, port and security. Always false for a proxy's space.
    ///
    /// Prevents that a credential for a URL reaches another server: a redirect may lead to any server, which may send a challenge
    /// (RFC 9110 §15.4).
    package func isOfServer(at url: URL?) -> Bool {
        guard !isProxy(), let origin = WebOrigin(url) else { return false }
        return origin.host == HostName.canonical(host) && origin.port == port
            && origin.isSecure == (`protocol` == NSURLProtectionSpaceHTTPS || `protocol` == "wss")
    }
}
