// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// The peer of a connection, and how the connection was opened: the same for all exchanges on it. Created once for each
/// connection, and passed by reference.
final class ConnectionRoute: Sendable {
    /// The host of the origin or, for a Unix-domain socket, its path; for errors.
    let host: String
    /// The port of the host, for errors.
    let port: UInt16
    let localAddress: SocketAddress?
    let remoteAddress: SocketAddress?
    /// How the kernel probes the peer of a silent connection; nil to disable probing.
    let probes: KeepAliveProbes?
    let usesProxy: Bool
    /// The TLS parameters negotiated with the origin; nil without TLS to the origin.
    let tls: TLSDetails?
    /// What the TLS handshake has shown about the origin, and how the origin was accepted; nil without TLS to the origin.
    let evidence: PeerEvidence?
    /// `http://` and the authority, which precede the path when an HTTP proxy forwards the requests (absolute form); nil
    /// otherwise.
    let absolutePrefix: String?
    /// The `Proxy-Authorization` value for a proxy that forwards the requests.
    let proxyAuthorization: String?
    /// Whether client and peer are both on this machine. Content of a file is then sent through memory instead of with
    /// `sendfile`. Reading pages of a file from a socket costs the receiver more time than the copies through memory cost client
    /// and peer together.
    let isSameHost: Bool

    /// Creates the route of a connection to `origin` over an established channel. `address` is the address of the channel's peer.
    init(
        to origin: Origin, over channel: borrowing ByteChannel, address: SocketAddress,
        configuration: DialConfiguration
    ) {
        let isForwarded = configuration.forwardsRequests(to: origin)
        // A channel to an `http` origin may have details too: those of the TLS connection to an https proxy.
        let details = origin.scheme == .https ? channel.details : nil
        let localAddress = channel.localAddress
        host = origin.unixPath ?? origin.host
        port = origin.port
        self.localAddress = localAddress
        remoteAddress = address
        probes = configuration.probes(to: address)
        usesProxy = origin.proxy != nil
        tls = details
        evidence = details == nil ? nil : channel.evidence
        absolutePrefix = isForwarded ? "http://" + Self.authority(of: origin) : nil
        proxyAuthorization = isForwarded ? origin.proxy?.credentials?.basicAuthorization : nil
        // Compares the addresses without their ports. If the local address is unknown, the result is false.
        isSameHost = localAddress?.with(port: 0) == address.with(port: 0)
    }

    /// Returns the authority of the origin in an absolute-form request target.
    private static func authority(of origin: Origin) -> String {
        (try? Authority(host: origin.host, port: origin.port, defaultPort: 80))?.description ?? origin.host
    }
}
