// SPDX-License-Identifier: MIT

/// The reason why a host name has no usable addresses.
public enum ResolutionError: Error, Hashable, Sendable {
    /// The name does not exist.
    case nameNotFound
    /// The name exists but has no address of the requested families.
    case noAddress
    /// The text cannot be a host name: empty, longer than 255 bytes, or with a control character or space.
    case invalidName
    /// No name server answered. A later attempt may succeed.
    case resolverUnavailable
    /// The resolver failed for another reason: an error code of `getaddrinfo`, and a system error if there was one.
    case resolverFailed(code: Int32, system: Errno?)
    /// As many threads as are permitted hang in look-ups.
    case tooManyHungLookUps(limit: Int)
    /// The deadline for the look-up passed.
    case timedOut
    /// The event loop of the caller is shutting down.
    case shutDown
}

extension ResolutionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .nameNotFound:
            "the name does not exist; see whether it is spelled right, and known to this machine's name servers (getent hosts)"
        case .noAddress: "the name has no usable address"
        case .invalidName: "this cannot be a host name"
        case .resolverUnavailable: "no name server answered; try again later"
        case .resolverFailed(let code, let system?): "the resolver failed (code \(code)): \(system)"
        case .resolverFailed(let code, nil): "the resolver failed (code \(code))"
        case .tooManyHungLookUps(let limit):
            "\(limit) look-ups hang, the most there may be; check the machine's name servers"
        case .timedOut: "the look-up took too long"
        case .shutDown: "the client was shut down during the look-up"
        }
    }
}

/// The address families that a look-up returns.
public enum AddressFamily: Hashable, Sendable {
    /// IPv4 and IPv6, in the system's order of preference (RFC 6724).
    case any
    /// IPv4 only.
    case ipv4
    /// IPv6 only.
    case ipv6

    /// Returns whether the address is of this family.
    func admits(_ address: SocketAddress) -> Bool {
        switch (self, address) {
        case (.any, _), (.ipv4, .ipv4), (.ipv6, .ipv6): true
        case (.ipv4, _), (.ipv6, _): false
        }
    }
}
