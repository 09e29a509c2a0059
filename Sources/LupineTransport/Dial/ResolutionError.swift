// SPDX-License-Identifier: MIT

/// Why a host name gave no addresses.
public enum ResolutionError: Error, Hashable, Sendable {
    /// The name does not exist.
    case nameNotFound
    /// The name exists and has no address of the families asked for.
    case noAddress
    /// The text cannot be a host name: empty, longer than 255 bytes, or with a control character or space.
    case invalidName
    /// No name server answered; trying later may help.
    case resolverUnavailable
    /// The resolver failed otherwise, with a code of `getaddrinfo` and, if it met one, a system error.
    case resolverFailed(code: Int32, system: Errno?)
    /// Every look-up thread that there may be waits for an answer that does not come.
    case tooManyHungLookUps(limit: Int)
    /// The deadline for the look-up passed.
    case timedOut
    /// The event loop that asked is shutting down.
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

/// The families of address that a look-up is to bring.
public enum AddressFamily: Hashable, Sendable {
    /// IPv4 and IPv6, in the system's order of preference (RFC 6724).
    case any
    /// IPv4 only.
    case ipv4
    /// IPv6 only.
    case ipv6

    func admits(_ address: SocketAddress) -> Bool {
        switch (self, address) {
        case (.any, _), (.ipv4, .ipv4), (.ipv6, .ipv6): true
        case (.ipv4, _), (.ipv6, _): false
        }
    }
}
