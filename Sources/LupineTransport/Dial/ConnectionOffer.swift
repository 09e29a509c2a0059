// SPDX-License-Identifier: MIT

/// Pooled connections that a dial may use instead of opening one (`CoalescibleConnections`).
struct ConnectionOffer {
    /// Returns a connection to one of these addresses whose certificate is valid for the dial's origin, if there is one.
    let candidate: ([SocketAddress]) -> CoalescibleConnections.Candidate?
    /// Makes the pool lease the connection to the exchanges that wait for the dial. Returns false if this is no longer possible;
    /// the dial then continues.
    let coalesce: (CoalescibleConnections.Candidate) -> Bool
}
