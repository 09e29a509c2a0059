// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The policy or delegate that decides whether the servers of a task's connections are trusted.
///
/// A connection belongs to the party that has accepted its server. The connection, its TLS sessions and the data received on it
/// serve no other party (U-9.17). Before a connection is opened, `TaskPeerVerifier.party` determines which party to ask.
/// After the answer, `TLSProfile.party` is the party that has given it; metrics show it as `TLSDetails.profile`.
enum TrustParty: Hashable, Sendable {
    /// The session's policy alone: no delegate is asked.
    case policy
    /// The session's delegate, or the policy if all delegates leave the decision to it.
    case session
    /// A task's own delegate; the party of all tasks with the same object as delegate.
    case delegate(ObjectToken)
}
