// SPDX-License-Identifier: MIT

/// A suspended Swift task, to be resumed once.
///
/// Uses an unchecked continuation, because a checked one allocates an object for each awaited request and has to be copied. The
/// owner resumes the task only once: it first removes the task from a locked state.
@safe struct WaitingTask: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the calling task and passes it to `store`, which keeps it and returns true, or returns false to let it continue
    /// at once.
    nonisolated(nonsending) static func wait(_ store: (WaitingTask) -> Bool) async {
        await unsafe withUnsafeContinuation { continuation in
            let task = unsafe WaitingTask(continuation: continuation)
            if !store(task) { task.resume() }
        }
    }

    /// Resumes the task. Called once.
    func resume() { unsafe continuation.resume() }
}
