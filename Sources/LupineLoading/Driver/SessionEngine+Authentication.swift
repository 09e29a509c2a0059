// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

extension SessionEngine {
    /// The HTTP proxy that may ask for credentials when a request for `url` is sent; nil without such a proxy, and for a URL
    /// that cannot be sent to.
    func authenticationProxy(for url: URL, isWebSocket: Bool) -> AuthenticationProxy? {
        guard let proxy = proxy(for: url, isWebSocket: isWebSocket) else { return nil }
        return AuthenticationProxy(proxy, for: url, tunnelsEverything: isWebSocket || tunnelsEverything)
    }
}
