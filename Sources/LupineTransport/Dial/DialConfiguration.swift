// SPDX-License-Identifier: MIT

package import LupineHTTP

/// How connections are opened.
package struct DialConfiguration: Sendable {
    /// The time for look-up, connecting and tunnel together, without the TLS handshakes. curl allows 300 s; a minute is longer
    /// than any attempt that still succeeds.
    package var timeout: Interval? = .seconds(60)
    /// The time for one TLS handshake, including the verification of the peer.
    package var tlsHandshakeTimeout: Interval? = .seconds(60)
    /// The address families to use.
    package var family = AddressFamily.any
    /// The family that is tried first.
    package var firstFamily = HappyEyeballsMachine<SocketAddress, Errno>.FirstFamily.asResolved
    /// How long an attempt runs alone before the next address is tried beside it.
    package var attemptDelay: Interval = HappyEyeballsMachine<SocketAddress, Errno>.defaultAttemptDelay
    /// Whether and how the kernel probes silent connections.
    package var keepAlive: KeepAliveProbes? = KeepAliveProbes(idle: 60, interval: 15, count: 4)
    /// The fields sent to a proxy with a CONNECT request, such as User-Agent.
    package var tunnelFields = Fields()
    /// Whether HTTP proxies are asked for a tunnel to `http` origins too, as curl does under `--proxytunnel`: for origins that
    /// speak a protocol which the proxy would not forward.
    package var tunnelsEverything = false

    /// The HTTP versions that are spoken on the connection.
    package var versions = HTTPVersions.http11
    /// Offered to origins instead of the application protocols of their TLS profile: for a pool that speaks fewer protocols than
    /// the others of its session.
    package var offeredProtocols: [String]?

    /// Whether bytes that the origin sends right behind a proxy's answer are kept for the reader
    /// (`DialedChannel.firstOriginBytes`). With HTTP/1.1 they would be a response to no request, and are an error.
    var originMaySpeakFirst = false

    /// The defaults.
    package init() {}

    /// Whether an HTTP proxy is asked for a tunnel to an `http` origin: it would not forward HTTP/2.
    var tunnelsToPlainOrigins: Bool { tunnelsEverything || versions.haveHTTP2WithoutTLS }

    /// Whether the first bytes of an `http` origin are kept: in HTTP/2 both peers send a preface.
    var keepsFirstOriginBytes: Bool { originMaySpeakFirst || versions.haveHTTP2WithoutTLS }
}
