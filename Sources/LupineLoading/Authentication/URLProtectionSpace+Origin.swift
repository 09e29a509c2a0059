// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineTransport

extension URLProtectionSpace {
    /// Whether the space is the server's that an address names: host, port and way. Never for a proxy's.
    ///
    /// What was given for an address is given to its server only: a redirect may lead to anybody, who may ask for a
    /// password too (RFC 9110 §15.4).
    package func isOfServer(at url: URL?) -> Bool {
        guard !isProxy(), let origin = WebOrigin(url) else { return false }
        return origin.host == HostName.canonical(host) && origin.port == port
            && origin.isSecure == (`protocol` == NSURLProtectionSpaceHTTPS || `protocol` == "wss")
    }
}
