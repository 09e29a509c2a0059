// SPDX-License-Identifier: MIT

import LupineTLS

/// Identifies who has accepted a connection, if that is not the default evaluation alone. Two values are equal only if all of
/// their parts are.
///
/// Meaningless in another process: data that depends on it is never read from a disk.
struct TrustJudge: Hashable, Sendable {
    /// The delegates that were asked, the task's before the session's, or the objects that they delegate the decision to.
    let objects: [ObjectToken]
    /// The evaluator that decides when they leave it to the session.
    let evaluator: TrustEvaluator
    /// The name of the roots that are used.
    let roots: String
}
