// SPDX-License-Identifier: MIT

internal import Glibc

/// Holds threads until others let them go on, without a descriptor. Each signal lets one go on, also one that comes later.
///
/// Any thread signals. A loop never waits here.
@safe final class Semaphore: @unchecked Sendable {
    private let counter: UnsafeMutablePointer<sem_t>

    /// A semaphore that lets nobody go on.
    init() {
        unsafe counter = .allocate(capacity: 1)
        unsafe counter.initialize(to: sem_t())
        unsafe sem_init(counter, 0, 0)
    }

    deinit {
        unsafe sem_destroy(counter)
        unsafe counter.deallocate()
    }

    /// Lets one thread go on.
    func signal() { unsafe sem_post(counter) }

    /// Returns when a signal was left for the caller.
    func wait() {
        precondition(!NativeThread.isLoop, "an event loop may not wait")
        // A debugger that attaches interrupts it.
        while unsafe sem_wait(counter) != 0 {}
    }
}
