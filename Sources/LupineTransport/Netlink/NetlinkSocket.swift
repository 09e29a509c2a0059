// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// A netlink socket for routing: it sends requests to the kernel, and receives replies and notifications of changes of links,
/// addresses and routes.
///
/// It belongs to the network namespace of the thread that opens it. It returns only messages of the kernel itself, and drops
/// messages that other processes send to it.
struct NetlinkSocket: ~Copyable {
    let descriptor: Descriptor
    /// The port number in replies to this socket.
    let port: UInt32

    /// Opens a socket that receives the notifications of all groups that a `RouteWatcher` needs.
    static func open() throws(Errno) -> NetlinkSocket {
        let descriptor = Descriptor(
            adopting: try Syscalls.socket(
                AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
                NETLINK_ROUTE))
        let fd = descriptor.rawValue
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(
            RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)
        // With port 0, `bind` lets the kernel choose the port, which is then read back.
        try unsafe borrow(&address) { pointer, length throws(Errno) in
            try unsafe Syscalls.bind(fd, pointer, length)
            var length = length
            try unsafe Syscalls.localAddress(fd, pointer, &length)
        }
        return NetlinkSocket(descriptor: descriptor, port: address.nl_pid)
    }

    private init(descriptor: consuming Descriptor, port: UInt32) {
        self.descriptor = descriptor
        self.port = port
    }

    /// Sends one request to the kernel.
    func send(_ request: [UInt8]) throws(Errno) {
        let fd = descriptor.rawValue
        try unsafe request.span.withUnsafeBytes { bytes throws(Errno) in
            // The count is not needed: a datagram is sent as a whole or not at all.
            _ = try unsafe Syscalls.send(fd, bytes, flags: Int32(MSG_NOSIGNAL))
        }
    }

    /// The result of receiving.
    enum ReceiveResult {
        /// The length of the datagram.
        case datagram(Int)
        /// The datagram did not fit into the buffer, or the kernel has dropped messages.
        case lost
        /// No datagram has arrived.
        case nothing
    }

    /// Receives one datagram of the kernel into the beginning of `buffer`.
    func receive(into buffer: inout [UInt8]) throws(Errno) -> ReceiveResult {
        let fd = descriptor.rawValue
        var span = buffer.mutableSpan
        return try unsafe span.withUnsafeMutableBytes { bytes throws(Errno) in
            while true {
                var sender = sockaddr_nl()
                do throws(Errno) {
                    let count = try unsafe Self.borrow(&sender) { pointer, length throws(Errno) in
                        var length = length
                        return try unsafe Syscalls.receive(fd, bytes, from: pointer, &length)
                    }
                    // The kernel's port is 0. A message from any other port is from another process, and ignored.
                    if sender.nl_pid != 0 { continue }
                    // `count` is the full length of the datagram, even if it did not fit into the buffer (MSG_TRUNC).
                    return count <= bytes.count ? .datagram(count) : .lost
                } catch {
                    if error == .wouldBlock { return .nothing }
                    if error == .noBufferSpace { return .lost }
                    throw error
                }
            }
        }
    }

    /// Calls `body` with a pointer to the address as the kernel's general address type, and with its length.
    private static func borrow<Result>(
        _ address: inout sockaddr_nl,
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try unsafe withUnsafeMutablePointer(to: &address) { pointer throws(Errno) in
            try unsafe body(
                UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<sockaddr_nl>.size))
        }
    }
}
