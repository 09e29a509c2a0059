// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Finds the addresses of a host whose reachability is queried: parses an IP literal, or looks up a name.
enum HostAddresses {
    /// Passes the addresses to `found`: for a literal before this returns, for a name later, on a thread of `WorkerPool.shared`.
    /// The array is empty if there are none, or if all threads of the pool are blocked.
    static func find(for host: String, _ found: @escaping @Sendable ([IPAddress]) -> Void) {
        if let literal = literal(host) { return found([literal]) }
        let isScheduled = WorkerPool.shared.run {
            found(((try? SystemResolver.lookUp(host, .any)) ?? []).compactMap(\.ipAddress))
        }
        if !isScheduled { found([]) }
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
