// SPDX-License-Identifier: MIT

/// An address to bind or connect a socket to: an IP address and port, or a Unix-domain name.
///
/// `SocketAddress+Native.swift` converts it to and from the kernel's form. A zone is the index of an interface, or 0 for none. It
/// distinguishes equal link-local addresses on different interfaces (RFC 4007).
public enum SocketAddress: Hashable, Sendable {
    /// An IPv4 address and port.
    case ipv4(IPv4Address, port: UInt16)
    /// An IPv6 address, port and zone.
    case ipv6(IPv6Address, port: UInt16, zone: UInt32)
    /// A Unix-domain socket in the file system.
    case unix(path: String)
    /// A Unix-domain socket in Linux's abstract name space; the bytes follow the leading zero.
    case unixAbstract(name: [UInt8])
    /// The address of a Unix-domain socket that was never bound.
    case unixUnnamed

    /// Parses an IP literal without brackets, with an optional zone after `%` (a number, or the name of an
    /// interface of this machine); nil for a host name.
    public init?(literal: some StringProtocol, port: UInt16) {
        if let address = IPv4Address(literal) {
            self = .ipv4(address, port: port)
            return
        }
        guard literal.utf8.contains(UInt8(ascii: ":")) else { return nil }
        let parts = literal.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPv6Address(first) else { return nil }
        // Without a `%` there is only one part.
        guard parts.count == 2 else {
            self = .ipv6(address, port: port, zone: 0)
            return
        }
        guard let zone = Self.zone(named: String(parts[1])) else { return nil }
        self = .ipv6(address, port: port, zone: zone)
    }

    /// Returns the index of an interface from its text: the index as a decimal number, or a name of at most 15 bytes. Returns nil
    /// for 0 and for unknown names.
    private static func zone(named text: String) -> UInt32? {
        guard !text.isEmpty, text.utf8.count <= 15 else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return UInt32(text).flatMap { $0 == 0 ? nil : $0 }
        }
        return interfaceIndex(named: text)
    }

    /// The port; nil for Unix-domain addresses.
    public var port: UInt16? {
        switch self {
        case .ipv4(_, let port), .ipv6(_, let port, _): port
        case .unix, .unixAbstract, .unixUnnamed: nil
        }
    }

    /// The IP address as text, with its zone and without brackets; nil for Unix-domain addresses.
    public var host: String? {
        switch self {
        case .ipv4(let address, _): address.description
        case .ipv6(let address, _, 0): address.description
        case .ipv6(let address, _, let zone): "\(address)%\(zone)"
        case .unix, .unixAbstract, .unixUnnamed: nil
        }
    }

    /// Returns the same IP address with another port; Unix-domain addresses are returned unchanged.
    package func with(port: UInt16) -> SocketAddress {
        switch self {
        case .ipv4(let address, _): .ipv4(address, port: port)
        case .ipv6(let address, _, let zone): .ipv6(address, port: port, zone: zone)
        case .unix, .unixAbstract, .unixUnnamed: self
        }
    }

    /// Whether this is an IPv6 address.
    package var isIPv6: Bool {
        switch self {
        case .ipv6: true
        case .ipv4, .unix, .unixAbstract, .unixUnnamed: false
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .ipv4(let address, let port): "\(address):\(port)"
        case .ipv6(let address, let port, 0): "[\(address)]:\(port)"
        case .ipv6(let address, let port, let zone): "[\(address)%\(zone)]:\(port)"
        case .unix(let path): "unix:\(path)"
        case .unixAbstract(let name): "unix:@\(String(decoding: name, as: UTF8.self))"
        case .unixUnnamed: "unix:"
        }
    }
}
