// SPDX-License-Identifier: MIT

package import LupineHTTP
import LupineTLS

/// How connections are opened.
package struct DialConfiguration: Sendable {
    /// The time-out for look-up, connecting and tunnel together, without the TLS handshakes. curl allows 300 s; an attempt that
    /// has not succeeded after a minute will not succeed.
    package var timeout: Interval? = .seconds(60)
    /// The time-out for one TLS handshake, including the verification of the peer.
    package var tlsHandshakeTimeout: Interval? = .seconds(60)
    /// The address families to use.
    package var family = AddressFamily.any
    /// The family that is tried first.
    package var firstFamily = HappyEyeballsMachine<SocketAddress, Errno>.FirstFamily.asResolved
    /// How long an attempt runs before the next address is tried in parallel (RFC 8305 §5, Connection Attempt Delay).
    package var attemptDelay: Interval = HappyEyeballsMachine<SocketAddress, Errno>.defaultAttemptDelay
    /// Whether and how the kernel probes silent connections.
    package var keepAlive: KeepAliveProbes? = KeepAliveProbes(idle: 60, interval: 15, count: 4)
    /// The fields sent to a proxy with a CONNECT request, such as User-Agent.
    package var tunnelFields = Fields()
    /// Whether HTTP proxies are asked for a tunnel to `http` origins too, as with curl's `--proxytunnel`: for origins that speak
    /// a protocol which the proxy would not forward.
    package var tunnelsEverything = false

    /// The HTTP versions that are spoken on the connection.
    package var versions = HTTPVersions.http11
    /// The application protocols (ALPN) offered instead of those of the TLS profile, for a pool that speaks fewer protocols than
    /// the other pools of its session; nil for those of the profile.
    package var offeredProtocols: [String]?

    /// Whether bytes of the origin that arrive together with the proxy's answer are kept (`DialedChannel.firstOriginBytes`). In
    /// HTTP/1.1 the origin may not send before a request, so such bytes are an error.
    var originMaySpeakFirst = false

    /// The defaults.
    package init() {}

    /// Whether an HTTP proxy is asked for a tunnel to an `http` origin: it would not forward HTTP/2.
    var tunnelsToPlainOrigins: Bool { tunnelsEverything || versions.haveHTTP2WithoutTLS }

    /// Returns how the kernel probes a silent peer at `address`; nil if it does not, as for a Unix-domain socket.
    func probes(to address: SocketAddress) -> KeepAliveProbes? { address.port == nil ? nil : keepAlive }

    /// Whether requests to `origin` are sent to its proxy, which forwards them, rather than through a tunnel or without a proxy.
    func forwardsRequests(to origin: Origin) -> Bool {
        guard let proxy = origin.proxy else { return false }
        return proxy.kind != .socks5 && origin.scheme == .http && !tunnelsToPlainOrigins
    }

    /// Returns an error if the negotiated protocol is none of the configured versions, or if it is HTTP/2 over a TLS version or
    /// cipher that HTTP/2 does not allow (RFC 9113 §9.2); nil otherwise.
    func versionError(of details: TLSDetails) -> TLSError? {
        // HTTP/1.1 alone needs no negotiated protocol.
        guard versions.contains(.http2) else { return nil }
        guard details.applicationProtocol == "h2" else {
            return versions.contains(.http11) ? nil : .http2NotChosen(details.applicationProtocol)
        }
        return details.meetsHTTP2Requirements ? nil : .cipherNotShared
    }

    /// Whether bytes that an `http` origin sends first are kept: in HTTP/2 both peers send a preface.
    var keepsFirstOriginBytes: Bool { originMaySpeakFirst || versions.haveHTTP2WithoutTLS }
}
