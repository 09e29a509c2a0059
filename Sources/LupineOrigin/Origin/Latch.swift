// SPDX-License-Identifier: MIT

internal import Glibc

/// Blocks a thread until `arrive` has been called a number of times, for shutdowns from synchronous code.
///
/// Any thread may use it, but the thread of an event loop must not call `wait`.
@safe final class Latch: @unchecked Sendable {
    /// The POSIX semaphore. It is on the heap, because it must not move.
    private let semaphore: UnsafeMutablePointer<sem_t>
    /// The number of arrivals for which `wait` waits.
    private let count: Int

    /// Creates a latch for `count` arrivals.
    init(_ count: Int) {
        self.count = count
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        // Not shared with other processes, and with the initial value 0.
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Counts one arrival.
    func arrive() { _ = unsafe sem_post(semaphore) }

    /// Blocks until all arrivals have been counted. May be called once only.
    func wait() {
        for _ in 0..<count {
            // A signal handler may interrupt the wait (EINTR).
            while unsafe sem_wait(semaphore) != 0 {}
        }
    }
}
