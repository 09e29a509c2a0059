// SPDX-License-Identifier: MIT

/// A failed attempt to connect to one address.
public struct ConnectFailure: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public let address: SocketAddress
    /// The error; `timedOut` if the address had not answered within the connect time-out.
    public let error: Errno

    /// Creates the failure of one attempt.
    package init(address: SocketAddress, error: Errno) {
        self.address = address
        self.error = error
    }

    public var description: String { "\(address): \(error)" }
}

extension ConnectFailure {
    /// Returns a text that describes the failed attempts to connect to `peer`, with advice for the user.
    static func describe(_ failures: [ConnectFailure], of peer: String) -> String {
        // An address that `peer` already names is not repeated.
        let attempts = failures.map { peer.hasSuffix("\($0.address)") ? "\($0.error)" : "\($0)" }
        return "cannot connect to \(peer): " + attempts.joined(separator: "; ")
            + advice(failures.map(\.error))
    }

    /// Returns advice for the user if all attempts failed for the same reason; otherwise an empty text.
    private static func advice(_ errors: [Errno]) -> String {
        switch Set(errors) {
        case [.connectionRefused]:
            "; nothing listens there: see whether it runs, and on this port"
        case [.timedOut]:
            "; see whether the address is right and no firewall drops what is sent there"
        case let errors
        where !errors.isEmpty && errors.isSubset(of: [.networkUnreachable, .hostUnreachable]):
            "; see whether this machine has a route there (ip route get)"
        case _: ""
        }
    }
}
