// SPDX-License-Identifier: MIT

/// A suspended Swift task. The owner must resume it exactly once.
///
/// Uses an unsafe continuation, because a checked one allocates an object for each awaited request. To resume the task only once,
/// the owner first removes it from a state that a lock guards.
@safe struct WaitingTask: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the calling task and passes it to `store`. If `store` returns true, it has stored the task, and its owner resumes
    /// it later. If `store` returns false, the task continues at once.
    nonisolated(nonsending) static func wait(_ store: (WaitingTask) -> Bool) async {
        await unsafe withUnsafeContinuation { continuation in
            let task = unsafe WaitingTask(continuation: continuation)
            if !store(task) { task.resume() }
        }
    }

    /// Resumes the task. A second call is undefined behaviour.
    func resume() { unsafe continuation.resume() }
}
