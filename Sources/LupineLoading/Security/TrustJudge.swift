// SPDX-License-Identifier: MIT

import LupineTLS

/// Identifies a judge: the delegates or the evaluator of the program that have decided to trust a server. If the default
/// evaluation alone decides, there is no judge.
///
/// A judge has no meaning in another process, so data that depends on one is never stored on disk.
struct TrustJudge: Hashable, Sendable {
    /// The delegates that were asked, the task's before the session's. For a delegate that leaves the decision to another object,
    /// the array has the token of the other object.
    let objects: [ObjectToken]
    /// The evaluator that decides when the delegates perform the default handling.
    let evaluator: TrustEvaluator
    /// The name of the session's roots.
    let roots: String
}
