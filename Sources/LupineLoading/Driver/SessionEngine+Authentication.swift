// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

extension SessionEngine {
    /// Returns the HTTP proxy that may ask for credentials when a request for `url` is sent. Returns nil if there is no such
    /// proxy, or if no request can be sent to the URL.
    func authenticationProxy(for url: URL, isWebSocket: Bool) -> AuthenticationProxy? {
        guard let proxy = proxy(for: url, isWebSocket: isWebSocket) else { return nil }
        return AuthenticationProxy(proxy, for: url, tunnelsEverything: isWebSocket || tunnelsEverything)
    }
}
