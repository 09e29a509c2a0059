// SPDX-License-Identifier: MIT

import LupineTLS

/// Under whom a connection was accepted, where that is not the default evaluation alone: two judges are the same only when
/// each of their parts is.
///
/// It says nothing in another process: what depends on it is never read from a disk.
struct TrustJudge: Hashable, Sendable {
    /// The delegates that were asked, the task's before the session's, or what they leave the judging to.
    let objects: [ObjectToken]
    /// What counts where they leave it to the session.
    let evaluator: TrustEvaluator
    /// The roots that it goes by.
    let roots: String
}
