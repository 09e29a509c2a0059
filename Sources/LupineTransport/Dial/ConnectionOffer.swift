// SPDX-License-Identifier: MIT

/// A pool's connections that a dial may end with, in the place of one that it opens (`CoalescibleConnections`).
struct ConnectionOffer {
    /// One to an address of the dial's origin whose certificate is for its name, if there is one.
    let candidate: ([SocketAddress]) -> CoalescibleConnections.Candidate?
    /// Has the pool lend it to those who wait for the dial. False where that can no longer be done, and the dial has to go on.
    let take: (CoalescibleConnections.Candidate) -> Bool
}
