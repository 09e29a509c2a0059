// SPDX-License-Identifier: MIT

internal import Glibc

/// A counting semaphore that needs no descriptor. Each signal releases one thread: one that waits, or the next that calls
/// `wait()`.
///
/// Any thread may signal. An event loop waits only for a thread that uses the loop's state at the moment (see `LoopAccess`).
@safe final class Semaphore: @unchecked Sendable {
    /// The POSIX semaphore. It has memory of its own, because its address must never change.
    private let semaphore: UnsafeMutablePointer<sem_t>

    /// Creates a semaphore with a count of zero.
    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Releases one waiting thread.
    func signal() { unsafe sem_post(semaphore) }

    /// Blocks until there is a signal for the caller.
    func wait() {
        precondition(!NativeThread.isLoop, "an event loop may not wait")
        // The same wait, without this check.
        waitOnLoop()
    }

    /// Like `wait()`, but allowed on an event loop. A loop waits only until another thread has stopped using the loop's state
    /// (see `LoopAccess`).
    func waitOnLoop() {
        // The call is repeated if it is interrupted, as when a debugger attaches.
        while unsafe sem_wait(semaphore) != 0 {}
    }
}
