// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Finds the addresses of a host, to query its reachability: parses an IP literal, or looks up a name.
enum HostAddresses {
    /// Passes the host's addresses to `completion`: the address of a literal before this returns, the addresses of a name later,
    /// on a thread of `WorkerPool.shared`. Passes an empty array if there are none, or if all threads of the pool are blocked.
    static func find(for host: String, _ completion: @escaping @Sendable ([IPAddress]) -> Void) {
        if let literal = literal(host) { return completion([literal]) }
        let isScheduled = WorkerPool.shared.run {
            // `any`: addresses of both IP versions.
            let addresses = (try? SystemResolver.lookUp(host, .any)) ?? []
            completion(addresses.compactMap(\.ipAddress))
        }
        if !isScheduled { completion([]) }
    }

    /// Returns the address of an IP literal, with or without brackets, without its zone; nil for a name.
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
