// SPDX-License-Identifier: MIT

package import LupineHTTP
import LupineTLS

/// The settings for opening connections.
package struct DialConfiguration: Sendable {
    /// The time-out for look-up, connecting and tunnel together, without the TLS handshakes. curl's time-out is 300 s, but an
    /// attempt that has not succeeded after a minute will hardly succeed later.
    package var timeout: Interval? = .seconds(60)
    /// The time-out for one TLS handshake, including the verification of the peer.
    package var tlsHandshakeTimeout: Interval? = .seconds(60)
    /// The address families to use.
    package var family = AddressFamily.any
    /// The family that is tried first.
    package var firstFamily = HappyEyeballsMachine<SocketAddress, Errno>.FirstFamily.asResolved
    /// How long an attempt runs before the next address is tried in parallel (RFC 8305 §5, Connection Attempt Delay).
    package var attemptDelay: Interval = HappyEyeballsMachine<SocketAddress, Errno>.defaultAttemptDelay
    /// When the kernel probes silent connections, in seconds; nil to disable probing.
    package var keepAlive: KeepAliveProbes? = KeepAliveProbes(idle: 60, interval: 15, count: 4)
    /// The fields sent to a proxy with a CONNECT request, such as User-Agent.
    package var tunnelFields = Fields()
    /// Whether an HTTP proxy is asked for a tunnel to `http` origins too, as with curl's `--proxytunnel`. An origin needs one if
    /// the proxy does not forward its protocol.
    package var tunnelsEverything = false

    /// The HTTP versions that are spoken on the connection.
    package var versions = HTTPVersions.http11
    /// The application protocols (ALPN) to offer instead of those of the TLS profile; nil to offer the profile's. A pool sets it
    /// if it speaks fewer protocols than the other pools of its session.
    package var offeredProtocols: [String]?

    /// Whether bytes of the origin may arrive together with the proxy's answer (`DialedChannel.firstOriginBytes`). With HTTP/1.1
    /// they are an error, because the origin may not send before it has received a request.
    var originMaySpeakFirst = false

    /// Creates the default settings.
    package init() {}

    /// Whether an HTTP proxy is asked for a tunnel to an `http` origin. HTTP/2 needs one: the proxy would not forward it.
    var tunnelsToPlainOrigins: Bool { tunnelsEverything || versions.haveHTTP2WithoutTLS }

    /// Returns how the kernel probes a silent peer at `address`; nil if probing is disabled or `address` is a Unix-domain socket.
    func probes(to address: SocketAddress) -> KeepAliveProbes? { address.port == nil ? nil : keepAlive }

    /// Whether requests to `origin` are sent to its proxy, which forwards them, rather than through a tunnel or without a proxy.
    func forwardsRequests(to origin: Origin) -> Bool {
        guard let proxy = origin.proxy else { return false }
        return proxy.kind != .socks5 && origin.scheme == .http && !tunnelsToPlainOrigins
    }

    /// Returns an error if the negotiated protocol is none of the configured versions; nil otherwise. HTTP/2 is also an error
    /// over a TLS version or cipher suite that it does not allow (RFC 9113 §9.2).
    func versionError(of details: TLSDetails) -> TLSError? {
        // HTTP/1.1 alone needs no negotiated protocol.
        guard versions.contains(.http2) else { return nil }
        guard details.applicationProtocol == "h2" else {
            return versions.contains(.http11) ? nil : .http2NotChosen(details.applicationProtocol)
        }
        return details.meetsHTTP2Requirements ? nil : .cipherNotShared
    }

    /// Whether an `http` origin may send before the client does, so that its bytes after the proxy's answer are kept for the
    /// owner of the connection. In HTTP/2 both peers begin with a preface.
    var keepsFirstOriginBytes: Bool { originMaySpeakFirst || versions.haveHTTP2WithoutTLS }
}
