// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// How the kernel probes a silent connection (`tcp(7)`); whole seconds.
package struct KeepAliveProbes: Hashable, Sendable {
    /// Silence before the first probe.
    package var idle: Int32
    /// Time between probes.
    package var interval: Int32
    /// Probes without answer before the connection counts as dead.
    package var count: Int32

    /// Probes after `idle` seconds, then every `interval` seconds, `count` times.
    package init(idle: Int32, interval: Int32, count: Int32) {
        self.idle = idle
        self.interval = interval
        self.count = count
    }

    /// By when they are to be turned on, counted from the last byte: half of the silence that they begin after.
    var latestStart: Interval { .milliseconds(Int64(idle) * 500) }
}

/// The options that the transport sets; none of them for Unix-domain sockets unless it says so.
extension Socket {
    /// Sends small writes at once (`TCP_NODELAY`).
    package func setNoDelay() throws(Errno) {
        try setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    }

    /// Before connecting, where our side speaks first and at once: the packet that ends TCP's handshake waits for the first
    /// bytes and goes with them (`TCP_QUICKACK` off). Without any it goes alone, a fifth of a second later.
    package func setConnectsWithData() throws(Errno) {
        try setOption(Int32(IPPROTO_TCP), TCP_QUICKACK, Int32(0))
    }

    /// Turns probes of a silent connection on.
    package func setKeepAlive(_ probes: KeepAliveProbes) throws(Errno) {
        try setOption(SOL_SOCKET, SO_KEEPALIVE, Int32(1))
        try setOption(Int32(IPPROTO_TCP), TCP_KEEPIDLE, probes.idle)
        try setOption(Int32(IPPROTO_TCP), TCP_KEEPINTVL, probes.interval)
        try setOption(Int32(IPPROTO_TCP), TCP_KEEPCNT, probes.count)
    }

    /// Lets a listener take over the port of connections that still wind down.
    package func setReuseAddress() throws(Errno) {
        try setOption(SOL_SOCKET, SO_REUSEADDR, Int32(1))
    }

    /// Before binding a client socket to a local address: the port is chosen at connect time, so that the
    /// same port serves connections to different peers.
    package func setBindAddressNoPort() throws(Errno) {
        try setOption(ipLevel, lupine_ip_bind_address_no_port, Int32(1))
    }

    /// Restricts the socket to one interface (`SO_BINDTODEVICE`).
    package func bind(toInterface name: String) throws(Errno) {
        let number = descriptor.rawValue
        let characters = Array(name.utf8)
        try unsafe characters.span.withUnsafeBytes { bytes throws(Errno) in
            try unsafe Syscalls.setOption(number, SOL_SOCKET, SO_BINDTODEVICE, bytes)
        }
    }

    /// Asks for kernel buffers of this size: fewer bytes in flight for tests of back-pressure.
    package func setBufferSizes(send: Int32, receive: Int32) throws(Errno) {
        try setOption(SOL_SOCKET, SO_SNDBUF, send)
        try setOption(SOL_SOCKET, SO_RCVBUF, receive)
    }

    /// How many octets the peer's kernel has acknowledged in all; nil where there is no TCP, or the kernel does not say.
    package var octetsAcknowledged: UInt64? {
        UInt64(exactly: lupine_octets_acknowledged(descriptor.rawValue))
    }

    /// The value of an integer option.
    func option(_ level: Int32, _ name: Int32) throws(Errno) -> Int32 {
        try Syscalls.option(descriptor.rawValue, level, name)
    }
}

private let ipLevel: Int32 = 0
