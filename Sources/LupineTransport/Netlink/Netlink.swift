// SPDX-License-Identifier: MIT

/// A network interface as the kernel describes it.
package struct NetworkLink: Hashable, Sendable {
    /// The interface's index.
    package var index: UInt32
    /// The interface's name, such as `eth0`.
    package var name: String
    /// The hardware type (`ARPHRD_…`): 1 Ethernet, 772 loopback.
    package var hardware: UInt16
    /// The flags `IFF_…` of `netdevice(7)`.
    package var flags: UInt32

    /// Whether the administrator has switched the interface on (IFF_UP).
    package var isUp: Bool { flags & 0x1 != 0 }
    /// Whether the interface reaches only this machine (IFF_LOOPBACK).
    package var isLoopback: Bool { flags & 0x8 != 0 }
    /// Whether the interface has exactly one peer, as a tunnel has (IFF_POINTOPOINT).
    package var isPointToPoint: Bool { flags & 0x10 != 0 }
    /// Whether the interface can carry packets: it is up and has a link (IFF_RUNNING).
    package var isRunning: Bool { flags & 0x40 != 0 }
}

/// An address of an interface.
package struct InterfaceAddress: Hashable, Sendable {
    /// The interface's index.
    package var interface: UInt32
    /// The local address.
    package var address: IPAddress
    /// The number of leading bits that identify the network.
    package var prefixLength: UInt8
}

/// A route: where packets to a range of addresses are sent.
package struct Route: Hashable, Sendable {
    /// The first address of the range; nil for the default route.
    package var destination: IPAddress?
    /// The number of leading bits of the destination that are compared.
    package var prefixLength: UInt8
    /// The next router; nil if the destination is directly on the interface's network.
    package var gateway: IPAddress?
    /// The interface by which packets leave.
    package var interface: UInt32?
    /// The local address of the packets.
    package var source: IPAddress?
    /// The number of the routing table that contains the route.
    package var table: UInt32
    /// The type of the route (`RTN_…`): 1 forwarded, 2 to this machine, 7 refused as unreachable.
    package var kind: UInt8
    /// Whether the addresses are IPv6.
    package var isIPv6 = false
    /// The interfaces of the next hops of a multipath route; empty for any other route.
    package var nextHopInterfaces: [UInt32] = []
}

/// A change of the machine's network configuration.
package enum RouteEvent: Hashable, Sendable {
    case link(NetworkLink)
    case linkRemoved(NetworkLink)
    case address(InterfaceAddress)
    case addressRemoved(InterfaceAddress)
    case route(Route)
    case routeRemoved(Route)
}

/// The reason why a netlink message cannot be decoded: its length fields are inconsistent.
package enum NetlinkError: Error, Hashable, Sendable {
    /// A message claims `length` bytes where `available` are left.
    case malformedMessage(length: Int, available: Int)
    /// An attribute claims `length` bytes where `available` are left.
    case malformedAttribute(length: Int, available: Int)
    /// A message of this type ends before its fixed part.
    case truncated(type: UInt16)
}

/// Encodes requests to the kernel and decodes its messages, in the format of rtnetlink (`rtnetlink(7)`). Every length is checked.
///
/// `RouteWatcher` owns the socket. Attributes of unknown types are skipped, because newer kernels add some.
package enum Netlink {
    /// One message, with the port and sequence number that distinguish a reply from a notification.
    package struct Message: Hashable, Sendable {
        /// The port of the requester. In a notification, 0 or the port of the process that caused the change.
        package var port: UInt32
        /// The sequence number of the request.
        package var sequence: UInt32
        /// The content of the message.
        package var content: Content
    }

    /// The content of a message.
    package enum Content: Hashable, Sendable {
        case event(RouteEvent)
        /// The end of a reply that has several messages.
        case done
        /// A request failed or, with number 0, succeeded.
        case error(number: Int32)
        /// The kernel has dropped messages.
        case overrun
        /// A message of another type, which the watcher ignores.
        case other(type: UInt16)
    }

    /// Reads all messages of one datagram.
    package static func messages(in datagram: Span<UInt8>) throws(NetlinkError) -> [Message] {
        var messages: [Message] = []
        var offset = 0
        // Offsets in the header (`nlmsghdr`): the length is at 0, the type at 4, the sequence number at 8, the port at 12.
        while offset < datagram.count {
            let available = datagram.count - offset
            guard available >= headerLength else {
                throw .malformedMessage(length: headerLength, available: available)
            }
            let length = Int(datagram.u32(at: offset))
            guard length >= headerLength, length <= available else {
                throw .malformedMessage(length: length, available: available)
            }
            let type = datagram.u16(at: offset + 4)
            let body = datagram.extracting(offset + headerLength..<offset + length)
            messages.append(
                Message(
                    port: datagram.u32(at: offset + 12), sequence: datagram.u32(at: offset + 8),
                    content: try content(type, body)))
            offset += aligned(length)
        }
        return messages
    }

    /// Decodes the body of a message.
    private static func content(_ type: UInt16, _ body: Span<UInt8>) throws(NetlinkError) -> Content {
        switch type {
        case 2:  // NLMSG_ERROR
            guard body.count >= 4 else { throw .truncated(type: type) }
            // The kernel sends the error number negated. `&-` cannot trap, whatever the number is.
            return .error(number: 0 &- Int32(bitPattern: body.u32(at: 0)))
        case 3:  // NLMSG_DONE
            return .done
        case 4:  // NLMSG_OVERRUN
            return .overrun
        case 16:  // RTM_NEWLINK
            return .event(.link(try link(type, body)))
        case 17:  // RTM_DELLINK
            return .event(.linkRemoved(try link(type, body)))
        case 20:  // RTM_NEWADDR
            return try address(type, body).map { .event(.address($0)) } ?? .other(type: type)
        case 21:  // RTM_DELADDR
            return try address(type, body).map { .event(.addressRemoved($0)) } ?? .other(type: type)
        case 24:  // RTM_NEWROUTE
            return try route(type, body).map { .event(.route($0)) } ?? .other(type: type)
        case 25:  // RTM_DELROUTE
            return try route(type, body).map { .event(.routeRemoved($0)) } ?? .other(type: type)
        default: return .other(type: type)
        }
    }

    /// Decodes `ifinfomsg` and its attributes.
    private static func link(_ type: UInt16, _ body: Span<UInt8>) throws(NetlinkError) -> NetworkLink {
        // The size of `ifinfomsg`: family, hardware type, index, flags, mask of changes.
        guard body.count >= 16 else { throw .truncated(type: type) }
        var link = NetworkLink(
            index: body.u32(at: 4), name: "", hardware: body.u16(at: 2), flags: body.u32(at: 8))
        try forEachAttribute(of: body, from: 16) { kind, value in
            // IFLA_IFNAME
            if kind == 3 { link.name = value.string() }
        }
        return link
    }

    /// Decodes `ifaddrmsg` and its attributes; returns nil if they contain no IP address.
    private static func address(
        _ type: UInt16, _ body: Span<UInt8>
    ) throws(NetlinkError) -> InterfaceAddress? {
        // The size of `ifaddrmsg`: family, prefix length, flags, scope, index.
        guard body.count >= 8 else { throw .truncated(type: type) }
        let family = body[0]
        var local: IPAddress?
        var linkAddress: IPAddress?
        try forEachAttribute(of: body, from: 8) { kind, value in
            // IFA_ADDRESS (1) is the peer's address on a point-to-point link, and then IFA_LOCAL (2) is the local address.
            if kind == 1 { linkAddress = value.address(family: family) }
            if kind == 2 { local = value.address(family: family) }
        }
        guard let address = local ?? linkAddress else { return nil }
        return InterfaceAddress(interface: body.u32(at: 4), address: address, prefixLength: body[1])
    }

    /// Decodes `rtmsg` and its attributes; returns nil for other families than IP.
    private static func route(_ type: UInt16, _ body: Span<UInt8>) throws(NetlinkError) -> Route? {
        // The size of `rtmsg`: family, prefix lengths of destination and source, service type, table, protocol, scope, type,
        // flags.
        guard body.count >= 12 else { throw .truncated(type: type) }
        let family = body[0]
        guard family == familyIPv4 || family == familyIPv6 else { return nil }
        var route = Route(
            prefixLength: body[1], table: UInt32(body[4]), kind: body[7], isIPv6: family == familyIPv6)
        try forEachAttribute(of: body, from: 12) { kind, value in
            switch kind {
            case 1: route.destination = value.address(family: family)  // RTA_DST
            case 4 where value.count >= 4: route.interface = value.u32(at: 0)  // RTA_OIF
            case 5: route.gateway = value.address(family: family)  // RTA_GATEWAY
            case 7: route.source = value.address(family: family)  // RTA_PREFSRC
            case 9: route.nextHopInterfaces = interfaces(ofNextHops: value)  // RTA_MULTIPATH
            case 15 where value.count >= 4: route.table = value.u32(at: 0)  // RTA_TABLE
            default: break
            }
        }
        return route
    }

    /// Returns the interfaces of a list of `rtnexthop`; stops at an inconsistent length.
    private static func interfaces(ofNextHops nextHops: Span<UInt8>) -> [UInt32] {
        var interfaces: [UInt32] = []
        var offset = 0
        // An `rtnexthop` has 8 bytes: its length, flags, weight and interface; attributes follow.
        while nextHops.count - offset >= 8 {
            let length = Int(nextHops.u16(at: offset))
            guard length >= 8, length <= nextHops.count - offset else { break }
            interfaces.append(nextHops.u32(at: offset + 4))
            offset += aligned(length)
        }
        return interfaces
    }

    /// Calls `visit` with each attribute (`rtattr`: two bytes of length, two bytes of type, the value) from the offset `start`
    /// on.
    private static func forEachAttribute(
        of body: Span<UInt8>, from start: Int, _ visit: (_ kind: UInt16, _ value: Span<UInt8>) -> Void
    ) throws(NetlinkError) {
        var offset = start
        while offset < body.count {
            let available = body.count - offset
            guard available >= 4 else { throw .malformedAttribute(length: 4, available: available) }
            let length = Int(body.u16(at: offset))
            guard length >= 4, length <= available else {
                throw .malformedAttribute(length: length, available: available)
            }
            // The two highest bits are flags of the encoding, not part of the type.
            visit(body.u16(at: offset + 2) & 0x3fff, body.extracting(offset + 4..<offset + length))
            offset += aligned(length)
        }
    }

    // MARK: Requests

    /// Returns a request for the route to `destination`.
    package static func routeRequest(to destination: IPAddress, sequence: UInt32) -> [UInt8] {
        let family = destination.isIPv6 ? familyIPv6 : familyIPv4
        let octets = destination.octets
        // An `rtmsg` with only the family and the prefix length.
        var body: [UInt8] = [family, UInt8(octets.count * 8), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        // The attribute RTA_DST.
        body += bytes(UInt16(4 + octets.count)) + bytes(UInt16(1)) + octets
        // RTM_GETROUTE with NLM_F_REQUEST.
        return request(type: 26, flags: 1, sequence, body)
    }

    /// Returns a request for all routes, of all families and tables.
    package static func routesRequest(sequence: UInt32) -> [UInt8] {
        // RTM_GETROUTE with NLM_F_REQUEST and NLM_F_DUMP.
        request(type: 26, flags: 0x301, sequence, [UInt8](repeating: 0, count: 12))
    }

    /// Returns a request for all interfaces.
    package static func linksRequest(sequence: UInt32) -> [UInt8] {
        // RTM_GETLINK with NLM_F_REQUEST and NLM_F_DUMP.
        request(type: 18, flags: 0x301, sequence, [UInt8](repeating: 0, count: 16))
    }

    /// Returns a request: the header (`nlmsghdr`), whose last field is the port 0 of the kernel, and the body.
    private static func request(type: UInt16, flags: UInt16, _ sequence: UInt32, _ body: [UInt8]) -> [UInt8] {
        bytes(UInt32(headerLength + body.count)) + bytes(type) + bytes(flags) + bytes(sequence)
            + bytes(UInt32(0)) + body
    }

    /// Returns the bytes of a number in the machine's byte order.
    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        #if _endian(big)
            let ordered = value.bigEndian
        #else
            let ordered = value.littleEndian
        #endif
        return (0..<value.bitWidth / 8).map { index in
            #if _endian(big)
                UInt8(truncatingIfNeeded: ordered >> (value.bitWidth - 8 - index * 8))
            #else
                UInt8(truncatingIfNeeded: ordered >> (index * 8))
            #endif
        }
    }

    /// Rounds a length up to a multiple of 4 (`NLMSG_ALIGN`, `RTA_ALIGN`).
    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

/// The size of `nlmsghdr`.
private let headerLength = 16
/// AF_INET.
private let familyIPv4: UInt8 = 2
/// AF_INET6.
private let familyIPv6: UInt8 = 10

/// Reads numbers in the machine's byte order, which netlink uses. An offset out of bounds traps.
extension Span<UInt8> {
    fileprivate func u16(at offset: Int) -> UInt16 {
        #if _endian(big)
            UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
        #else
            UInt16(self[offset + 1]) << 8 | UInt16(self[offset])
        #endif
    }

    fileprivate func u32(at offset: Int) -> UInt32 {
        #if _endian(big)
            UInt32(u16(at: offset)) << 16 | UInt32(u16(at: offset + 2))
        #else
            UInt32(u16(at: offset + 2)) << 16 | UInt32(u16(at: offset))
        #endif
    }

    /// Returns the text before the first NUL.
    fileprivate func string() -> String {
        var bytes: [UInt8] = []
        for index in 0..<count {
            if self[index] == 0 { break }
            bytes.append(self[index])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Interprets the bytes as an address in network byte order; returns nil for another family or length.
    fileprivate func address(family: UInt8) -> IPAddress? {
        switch (family, count) {
        case (familyIPv4, 4):
            return .v4(IPv4Address(rawValue: UInt32(truncatingIfNeeded: number(0..<4))))
        case (familyIPv6, 16):
            return .v6(IPv6Address(high: number(0..<8), low: number(8..<16)))
        default:
            return nil
        }
    }

    /// Reads the bytes of a range as a number in network byte order.
    private func number(_ range: Range<Int>) -> UInt64 {
        var value: UInt64 = 0
        for index in range { value = value << 8 | UInt64(self[index]) }
        return value
    }
}
