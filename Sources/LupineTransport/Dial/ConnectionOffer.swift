// SPDX-License-Identifier: MIT

/// Lets a dial use a pooled connection instead of opening a new one (`CoalescibleConnections`).
struct ConnectionOffer {
    /// Returns a connection to one of these addresses whose certificate is valid for the dial's origin, if there is one.
    let candidate: ([SocketAddress]) -> CoalescibleConnections.Candidate?
    /// Makes the pool lease the connection to the exchanges that wait for the dial. Returns false if the connection can carry no
    /// further exchange, or if an exchange needs a fresh connection; the dial then continues.
    let coalesce: (CoalescibleConnections.Candidate) -> Bool
}
