// SPDX-License-Identifier: MIT

import LupineTLS

/// The peer of a connection and how it was reached: the same for all exchanges on it. Made once and passed by reference.
final class ConnectionRoute: Sendable {
    let host: String
    /// The port of the host, for errors.
    let port: UInt16
    let localAddress: SocketAddress?
    let remoteAddress: SocketAddress?
    /// How the kernel probes the peer of a silent connection; nil to disable probing.
    let probes: KeepAliveProbes?
    let usesProxy: Bool
    let dial: DialMetrics
    /// The TLS parameters negotiated with the origin.
    let tls: TLSDetails?
    /// The origin's identity according to the TLS handshake, and how it was accepted.
    let evidence: PeerEvidence?
    /// The prefix of the path when a request goes to an HTTP proxy in absolute form.
    let absolutePrefix: String?
    /// The `Proxy-Authorization` value for such a proxy.
    let proxyAuthorization: String?
    /// Whether both ends have the same address. Sending a file's pages is free for the sender then, but costs the receiver
    /// more than a copy costs both.
    let isSameHost: Bool

    init(
        host: String, port: UInt16, localAddress: SocketAddress?, remoteAddress: SocketAddress?,
        probes: KeepAliveProbes?, usesProxy: Bool, dial: DialMetrics, tls: TLSDetails?,
        evidence: PeerEvidence?, absolutePrefix: String?,
        proxyAuthorization: String?
    ) {
        self.host = host
        self.port = port
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
        self.probes = probes
        self.usesProxy = usesProxy
        self.dial = dial
        self.tls = tls
        self.evidence = evidence
        self.absolutePrefix = absolutePrefix
        self.proxyAuthorization = proxyAuthorization
        // When content is sent, neither address is nil.
        isSameHost = localAddress?.with(port: 0) == remoteAddress?.with(port: 0)
    }
}
