// SPDX-License-Identifier: MIT

internal import Glibc

/// A counting semaphore without a descriptor. Each signal releases one thread: one that waits, or the next that calls `wait()`.
///
/// Any thread may signal. A loop waits only for a thread that has borrowed it.
@safe final class Semaphore: @unchecked Sendable {
    private let counter: UnsafeMutablePointer<sem_t>

    /// Creates a semaphore with a count of zero.
    init() {
        unsafe counter = .allocate(capacity: 1)
        unsafe counter.initialize(to: sem_t())
        unsafe sem_init(counter, 0, 0)
    }

    deinit {
        unsafe sem_destroy(counter)
        unsafe counter.deallocate()
    }

    /// Releases one waiting thread.
    func signal() { unsafe sem_post(counter) }

    /// Blocks until there is a signal for the caller.
    func wait() {
        precondition(!NativeThread.isLoop, "an event loop may not wait")
        waitOnLoop()
    }

    /// Like `wait()`, for the one place where a loop waits: for the end of a borrower's work (`LoopAccess`).
    func waitOnLoop() {
        // The call is interrupted when a debugger attaches; it is then repeated.
        while unsafe sem_wait(counter) != 0 {}
    }
}
