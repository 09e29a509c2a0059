// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// The keep-alive probes of a silent connection (`tcp(7)`), in whole seconds.
package struct KeepAliveProbes: Hashable, Sendable {
    /// The number of seconds without a received byte before the first probe.
    package var idle: Int32
    /// The number of seconds between probes.
    package var interval: Int32
    /// The number of unanswered probes after which the connection counts as dead.
    package var count: Int32

    /// Creates settings for probes after `idle` seconds, then every `interval` seconds, `count` times.
    package init(idle: Int32, interval: Int32, count: Int32) {
        self.idle = idle
        self.interval = interval
        self.count = count
    }

    /// The time after the last byte by which probes must be enabled: half of `idle`. A second of `idle` gives 500 milliseconds.
    var latestStart: Interval { .milliseconds(Int64(idle) * 500) }
}

/// The options that the transport sets; only for TCP unless stated otherwise.
extension Socket {
    /// Sends small writes at once (`TCP_NODELAY`).
    package func setNoDelay() throws(Errno) {
        try setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    }

    /// Lets the last packet of the TCP handshake carry the client's first bytes (`TCP_QUICKACK` off). The kernel then holds that
    /// packet back until there are bytes, or for 200 ms. So the option suits clients that send as soon as they are connected. It
    /// must be set before connecting.
    package func setConnectsWithData() throws(Errno) {
        try setOption(Int32(IPPROTO_TCP), TCP_QUICKACK, Int32(0))
    }

    /// Enables probes of a silent connection.
    package func setKeepAlive(_ probes: KeepAliveProbes) throws(Errno) {
        try setOption(SOL_SOCKET, SO_KEEPALIVE, Int32(1))
        try setOption(Int32(IPPROTO_TCP), TCP_KEEPIDLE, probes.idle)
        try setOption(Int32(IPPROTO_TCP), TCP_KEEPINTVL, probes.interval)
        try setOption(Int32(IPPROTO_TCP), TCP_KEEPCNT, probes.count)
    }

    /// Lets a listener bind to a port although earlier connections of that port are still closing (`SO_REUSEADDR`).
    package func setReuseAddress() throws(Errno) {
        try setOption(SOL_SOCKET, SO_REUSEADDR, Int32(1))
    }

    /// Lets the kernel choose the local port when the socket connects (`IP_BIND_ADDRESS_NO_PORT`), so that connections to
    /// different peers can use the same port. It must be set before a client socket is bound to a local address.
    package func setBindAddressNoPort() throws(Errno) {
        try setOption(ipLevel, lupine_ip_bind_address_no_port, Int32(1))
    }

    /// Restricts the socket to one interface (`SO_BINDTODEVICE`).
    package func bind(toInterface name: String) throws(Errno) {
        let fd = descriptor.rawValue
        let characters = Array(name.utf8)
        try unsafe characters.span.withUnsafeBytes { bytes throws(Errno) in
            try unsafe Syscalls.setOption(fd, SOL_SOCKET, SO_BINDTODEVICE, bytes)
        }
    }

    /// Sets the sizes of the kernel's buffers. Tests of back-pressure make them small.
    package func setBufferSizes(send: Int32, receive: Int32) throws(Errno) {
        try setOption(SOL_SOCKET, SO_SNDBUF, send)
        try setOption(SOL_SOCKET, SO_RCVBUF, receive)
    }

    /// The total number of octets that the peer's kernel has acknowledged; nil if the socket is not TCP, or the local kernel does
    /// not report the number.
    package var octetsAcknowledged: UInt64? {
        // The function returns -1 if the number is unknown, which `exactly` converts to nil.
        UInt64(exactly: lupine_octets_acknowledged(descriptor.rawValue))
    }

    /// Returns the value of an integer option.
    func option(_ level: Int32, _ name: Int32) throws(Errno) -> Int32 {
        try Syscalls.option(descriptor.rawValue, level, name)
    }
}

/// IPPROTO_IP.
private let ipLevel: Int32 = 0
