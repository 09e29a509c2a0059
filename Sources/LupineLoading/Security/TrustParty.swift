// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Who judges the peers of a task's connections, and so: for whom a connection is good that was accepted.
///
/// A connection, its TLS sessions and what was received over it belong to one party and serve nobody else (U-9.17). Before a
/// connection is opened a task has the party that is to be asked (`TaskTrust.party`); afterwards the connection has the one
/// that answered (`TLSProfile.party`, which metrics show as `TLSDetails.profile`).
enum TrustParty: Hashable, Sendable {
    /// The session's policy alone: nobody is asked.
    case policy
    /// The session's delegate, or the policy where everybody leaves the question to it.
    case session
    /// A task's own delegate: for the tasks that have this very object.
    case delegate(ObjectToken)
}
