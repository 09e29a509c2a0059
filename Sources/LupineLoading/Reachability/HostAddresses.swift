// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Finds the addresses of a host whose reachability is requested: parses a literal, or looks up a name.
enum HostAddresses {
    /// Passes the addresses to `found`: at once for a literal, later and on another thread for a name. The array is empty if
    /// there are none, or if all threads for look-ups are blocked.
    static func look(up host: String, _ found: @escaping @Sendable ([IPAddress]) -> Void) {
        if let literal = literal(host) { return found([literal]) }
        let isUnderWay = WorkerPool.shared.run {
            found(((try? SystemResolver.lookUp(host, .any)) ?? []).compactMap(\.ipAddress))
        }
        if !isUnderWay { found([]) }
    }

    /// Returns the address of a literal, with or without brackets and zone; nil for a name.
    static func literal(_ host: String) -> IPAddress? {
        var text = Substring(host)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let zone = text.firstIndex(of: "%") { text = text[..<zone] }
        return IPAddress(text)
    }
}

extension SocketAddress {
    /// The IP address, without its zone; nil for Unix-domain addresses.
    fileprivate var ipAddress: IPAddress? {
        switch self {
        case .ipv4(let address, _): .v4(address)
        case .ipv6(let address, _, _): .v6(address)
        case .unix, .unixAbstract, .unixUnnamed: nil
        }
    }
}
