// SPDX-License-Identifier: MIT

import LupineTLS

/// Identifies the judge that has accepted a connection, unless that is the default evaluation alone.
///
/// Has no meaning in another process, so that nothing which depends on a judge is read from a disk.
struct TrustJudge: Hashable, Sendable {
    /// The delegates that were asked, the task's before the session's, or the objects to which they leave the decision.
    let objects: [ObjectToken]
    /// The evaluator that decides when the delegates perform the default handling.
    let evaluator: TrustEvaluator
    /// The name of the session's roots.
    let roots: String
}
