// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// A routing netlink socket: requests to the kernel, its replies, and notifications of links, addresses and routes.
///
/// It belongs to the network namespace of the thread that opens it. Only messages of the kernel itself are received; those that
/// other processes send to it are ignored.
struct NetlinkSocket: ~Copyable {
    let descriptor: Descriptor
    /// The port number in replies to this socket.
    let port: UInt32

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
            _ = try unsafe Syscalls.send(fd, bytes, flags: Int32(MSG_NOSIGNAL))
        }
    }

    /// The result of receiving.
    enum ReceiveResult {
        case datagram(Int)
        /// The datagram did not fit, or the kernel had to drop messages.
        case lost
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
                    // The kernel's port is 0; another process sent this message.
                    if sender.nl_pid != 0 { continue }
                    // `count` is the datagram's full length, even if only a part fitted (MSG_TRUNC).
                    return count <= bytes.count ? .datagram(count) : .lost
                } catch {
                    if error == .wouldBlock { return .nothing }
                    if error == .noBufferSpace { return .lost }
                    throw error
                }
            }
        }
    }

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
