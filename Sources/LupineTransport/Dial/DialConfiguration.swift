// SPDX-License-Identifier: MIT

package import LupineHTTP

/// How connections are opened.
package struct DialConfiguration: Sendable {
    /// For look-up, connecting and tunnel together, without the handshakes of TLS. curl allows 300 s; a minute is longer than any handshake that
    /// still succeeds.
    package var timeout: Interval? = .seconds(60)
    /// For one handshake of TLS, judging the peer included.
    package var tlsHandshakeTimeout: Interval? = .seconds(60)
    /// Which addresses are wanted.
    package var family = AddressFamily.any
    /// Which family is tried first.
    package var firstFamily = HappyEyeballsMachine<SocketAddress, Errno>.FirstFamily.asResolved
    /// How long an attempt is alone before the next address joins it.
    package var stagger: Interval = HappyEyeballsMachine<SocketAddress, Errno>.defaultStagger
    /// Whether and how the kernel probes silent connections.
    package var keepAlive: KeepAliveProbes? = KeepAliveProbes(idle: 60, interval: 15, count: 4)
    /// Sent to a proxy that is asked for a tunnel, such as User-Agent.
    package var tunnelFields = Fields()
    /// Asks HTTP proxies for a tunnel to `http` origins too, as curl does under `--proxytunnel`: for origins that
    /// speak something which the proxy would not pass on.
    package var tunnelsEverything = false

    /// What is spoken once the connection stands.
    package var versions = HTTPVersions.http11
    /// What origins are offered in place of the application protocols of their TLS profile: for a pool that speaks less than
    /// the others of its session.
    package var offeredProtocols: [String]?

    /// What the origin says first, behind a proxy's answer, is kept for whoever reads (`DialedChannel.early`). With HTTP it
    /// would be an answer to nothing.
    var originMaySpeakFirst = false

    /// The defaults.
    package init() {}

    /// Whether an HTTP proxy is asked for a tunnel to an `http` origin: it would not pass HTTP/2 on.
    var tunnelsToPlainOrigins: Bool { tunnelsEverything || versions.haveHTTP2WithoutTLS }

    /// Whether what an `http` origin says first is kept: in HTTP/2 both sides begin.
    var keepsFirstWords: Bool { originMaySpeakFirst || versions.haveHTTP2WithoutTLS }
}
