// SPDX-License-Identifier: MIT

/// A suspended Swift task, to be resumed once.
///
/// Uses an unchecked continuation: a checked one allocates an object and costs a copy for each awaited request. The owner
/// guarantees that it resumes the task only once: it removes it from a locked state first.
@safe struct WaitingTask: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the calling task if `keeps` stores it and returns true; otherwise the task continues at once.
    nonisolated(nonsending) static func wait(_ keeps: (WaitingTask) -> Bool) async {
        await unsafe withUnsafeContinuation { continuation in
            let task = unsafe WaitingTask(continuation: continuation)
            if !keeps(task) { task.goOn() }
        }
    }

    /// Resumes the task. Called once.
    func goOn() { unsafe continuation.resume() }
}
