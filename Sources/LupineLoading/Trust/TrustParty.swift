// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A party: the judge of a task's connections, to which the connections that it accepts belong.
///
/// A connection, its TLS sessions and the data received on it belong to one party and serve no other (U-9.17). Before a
/// connection is opened, the task determines the party to ask (`TaskTrust.party`); afterwards the connection belongs to the party
/// that answered (`TLSProfile.party`, shown in metrics as `TLSDetails.profile`).
enum TrustParty: Hashable, Sendable {
    /// The session's policy alone: no delegate is asked.
    case policy
    /// The session's delegate, or the policy if all delegates leave the decision to it.
    case session
    /// A task's own delegate; the party of all tasks with the same object as delegate.
    case delegate(ObjectToken)
}
