// SPDX-License-Identifier: MIT

internal import Glibc

/// Blocks threads until they are signalled, without a descriptor. Each signal releases one thread, also one that waits later.
///
/// Any thread may signal. A loop must not wait here.
@safe final class Semaphore: @unchecked Sendable {
    private let counter: UnsafeMutablePointer<sem_t>

    /// A semaphore with a count of zero.
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
        // An attaching debugger interrupts the call.
        while unsafe sem_wait(counter) != 0 {}
    }
}
