// SPDX-License-Identifier: MIT

/// Lets a dial use a pooled connection instead of opening a new one (`CoalescibleConnections`).
struct ConnectionOffer {
    /// Returns a connection to one of these addresses whose certificate is valid for the dial's origin, if there is one.
    let candidate: ([SocketAddress]) -> CoalescibleConnections.Candidate?
    /// Makes the pool lease the connection to the exchanges that wait for the dial. Returns false if the connection has ended or
    /// takes no more exchanges; the dial then continues.
    let coalesce: (CoalescibleConnections.Candidate) -> Bool
}
