// SPDX-License-Identifier: MIT

/// The numbers of connections to one origin and of requests that wait for one: a snapshot.
///
/// The numbers are consistent: they were read at the same time. The pool changes meanwhile: a waiting request may have got its
/// connection before the program reads the snapshot.
public struct PoolCounts: Hashable, Sendable {
    /// `http` or `https`.
    public let scheme: String
    /// The host, in lower case and without brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The proxy, without its credentials; nil for none.
    public let proxy: String?
    /// The path of the Unix-domain socket that is used instead of host and port; nil for none.
    public let unixSocketPath: String?
    /// Connections that carry no request and can be leased.
    public internal(set) var idle: Int
    /// Connections that carry a request, or were upgraded to a WebSocket.
    public internal(set) var leased: Int
    /// Connections that are being opened.
    public internal(set) var dialing: Int
    /// Requests that wait for a connection.
    public internal(set) var waiting: Int

    init(_ counts: PoolMachine.KeyCounts) {
        let origin = counts.origin
        scheme = origin.scheme == .https ? "https" : "http"
        host = origin.host
        port = origin.port
        proxy = origin.proxy?.description
        unixSocketPath = origin.unixPath
        (idle, leased, dialing, waiting) = (counts.idle, counts.leased, counts.dialing, counts.waiting)
    }

    /// Whether both counts are for the same scheme, host, port, proxy and socket.
    private func isOfSameOrigin(as other: PoolCounts) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port && proxy == other.proxy
            && unixSocketPath == other.unixSocketPath
    }

    /// Returns one element for each origin, with the sums of its counts in all pools and for all TLS profiles. Sorted by host,
    /// scheme and port.
    package static func joined(_ counts: [PoolCounts]) -> [PoolCounts] {
        let sorted = counts.sorted {
            ($0.host, $0.scheme, $0.port, $0.proxy ?? "", $0.unixSocketPath ?? "")
                < ($1.host, $1.scheme, $1.port, $1.proxy ?? "", $1.unixSocketPath ?? "")
        }
        return sorted.reduce(into: []) { joined, next in
            guard let last = joined.last, last.isOfSameOrigin(as: next) else { return joined.append(next) }
            let index = joined.count - 1
            joined[index].idle += next.idle
            joined[index].leased += next.leased
            joined[index].dialing += next.dialing
            joined[index].waiting += next.waiting
        }
    }
}

extension PoolMachine {
    /// The counts of one pool key.
    struct KeyCounts: Sendable {
        let origin: Origin
        var idle = 0
        var leased = 0
        var dialing = 0
        var waiting: Int
    }
}
