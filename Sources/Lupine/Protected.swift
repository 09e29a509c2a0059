// SPDX-License-Identifier: MIT

#if LUPINE_TSAN
    import Glibc
#else
    import Synchronization
#endif
#if LUPINE_HELD_LOCKS
    import LupineLoading
#endif

/// A value and the lock that guards it. Contains the mutable state of every class of this module.
///
/// Can be used on any thread. The lock is not recursive. The closures passed to `read` and `write` must not call the program's
/// code and must not acquire another lock. With the compiler flag `-D LUPINE_HELD_LOCKS` each thread counts the locks that it
/// holds. The library then checks that the count is zero wherever it calls the program's code.
///
/// The value need not be `Sendable`, as long as no reference to it escapes from the closures. The compiler cannot check that,
/// hence `@unchecked`.
///
/// The lock is a `Mutex`. With the flag `-D LUPINE_TSAN` it is a `pthread_mutex_t`, because ThreadSanitizer does not recognize
/// the futex of a contended `Mutex` and reports false races.
@safe final class Protected<Value>: @unchecked Sendable {
    #if LUPINE_TSAN
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    #else
        private let mutex = Mutex(())
    #endif
    // Accessed only under the lock, which is not recursive. So two accesses never overlap, and no check at run time is needed.
    @exclusivity(unchecked) private var value: Value

    /// Creates an unlocked lock around `value`.
    init(_ value: consuming Value) {
        unsafe self.value = value
        #if LUPINE_TSAN
            unsafe mutex = .allocate(capacity: 1)
            unsafe mutex.initialize(to: pthread_mutex_t())
            unsafe pthread_mutex_init(mutex, nil)
        #endif
    }

    #if LUPINE_TSAN
        deinit {
            unsafe pthread_mutex_destroy(mutex)
            unsafe mutex.deallocate()
        }
    #endif

    /// Runs `body` with exclusive access to the value, to read it. The value is passed `inout` to avoid copying it: copying
    /// a large state costs more than reading it.
    func read<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        try withLock(body)
    }

    /// Runs `body` with exclusive access to the value, to change it.
    @discardableResult
    func write<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        try withLock(body)
    }

    /// Replaces the value.
    func write(_ value: Value) {
        // The old value is returned so that it is released outside of the lock: its deinitializer may call any code.
        _ = withLock { stored in
            let old = stored
            stored = value
            return old
        }
    }

    /// Runs `body` under the lock. With `LUPINE_HELD_LOCKS`, the thread counts the lock meanwhile.
    @inline(__always)
    private func withLock<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        #if LUPINE_HELD_LOCKS
            HeldLocks.recordAcquisition()
            defer { HeldLocks.recordRelease() }
        #endif
        #if LUPINE_TSAN
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            return try unsafe body(&value)
        #else
            return try mutex.withLock { _ in try unsafe body(&value) }
        #endif
    }
}

extension Protected: Equatable where Value: Equatable {
    static func == (left: Protected<Value>, right: Protected<Value>) -> Bool {
        // Copies one value after the other, so that a thread holds one lock at a time. If it held both, two threads that compare
        // in opposite order could deadlock.
        left.read { $0 } == right.read { $0 }
    }
}

extension Protected: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        hasher.combine(read { $0 })
    }
}
