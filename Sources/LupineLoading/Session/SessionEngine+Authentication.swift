// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

extension SessionEngine {
    /// The proxy that may ask who we are when a request for `url` goes out; nil where there is none that speaks HTTP, and
    /// where the address cannot be sent to.
    func authenticationProxy(for url: URL, isWebSocket: Bool) -> AuthenticationProxy? {
        guard let proxy = proxy(for: url, isWebSocket: isWebSocket) else { return nil }
        return AuthenticationProxy(proxy, for: url, tunnelsEverything: isWebSocket || tunnelsEverything)
    }
}
