// SPDX-License-Identifier: MIT

/// Decides which task of a request is held, that is, delivers nothing, because too many bytes wait for the request's handlers. The
/// request guards this value with its lock.
///
/// The decisions are numbered. Each thread applies its own one at once, outside of the lock, and the task ignores a decision that
/// comes after a later one.
struct TaskHold<HeldTask: AnyObject & Sendable> {
    /// A decision to hold a task, or to release it if `isHeld` is false.
    struct Decision: Sendable {
        let task: HeldTask
        let isHeld: Bool
        let number: Int
    }

    private var heldTask: HeldTask?
    private var decisionCount = 0

    /// Decides to hold `source` if too many bytes wait, otherwise to release the held task. Returns nil if nothing changes.
    ///
    /// - Parameters:
    ///   - isFull: Whether too many bytes wait.
    ///   - source: The task that delivers content; nil if the call can only lead to a release.
    mutating func decide(isFull: Bool, _ source: HeldTask?) -> Decision? {
        guard let task = isFull ? source : heldTask, !isFull || task !== heldTask else { return nil }
        heldTask = isFull ? task : nil
        decisionCount += 1
        return Decision(task: task, isHeld: isFull, number: decisionCount)
    }
}
