// SPDX-License-Identifier: MIT

internal import Glibc

/// Blocks a thread until a number of arrivals have been counted, for shutdowns from synchronous code.
///
/// Any thread may use it, but an event loop's thread must not wait.
@safe final class Latch: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let count: Int

    /// Creates a latch for `count` arrivals.
    init(_ count: Int) {
        self.count = count
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
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
            while unsafe sem_wait(semaphore) != 0 {}
        }
    }
}
