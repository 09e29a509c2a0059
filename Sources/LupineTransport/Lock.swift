// SPDX-License-Identifier: MIT

#if LUPINE_TSAN
    import Glibc
#else
    public import Synchronization
#endif

#if LUPINE_TSAN
    /// The lock as ThreadSanitizer can see it: a `pthread_mutex_t` at a fixed address. The rules are those of the other.
    @safe @usableFromInline package final class Lock<Value: ~Copyable>: @unchecked Sendable {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private var value: Value

        /// A lock that is open, around `value`.
        @usableFromInline package init(_ value: consuming sending Value) {
            self.value = value
            unsafe mutex = .allocate(capacity: 1)
            unsafe mutex.initialize(to: pthread_mutex_t())
            unsafe pthread_mutex_init(mutex, nil)
        }

        deinit {
            unsafe pthread_mutex_destroy(mutex)
            unsafe mutex.deallocate()
        }

        /// Runs `body` with sole access to the value.
        @usableFromInline package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            #if LUPINE_HELD_LOCKS
                HeldLocks.taken()
                defer { HeldLocks.released() }
            #endif
            return try body(&value)
        }

        /// Shows ThreadSanitizer that what the last holder did comes before what the caller does next.
        package func showOrder() { withLock { _ in } }
    }
#else
    /// The one lock of the house: a value and the mutual exclusion that guards it.
    ///
    /// Nothing calls out of the library, and no other lock is taken, inside `withLock`; under `-D LUPINE_HELD_LOCKS` it notes
    /// that its thread holds it, and every place that calls out looks. It is `Mutex`; under
    /// `-D LUPINE_TSAN` it is a `pthread_mutex_t`, because ThreadSanitizer does not see the futex that a
    /// contended `Mutex` waits on and reports races that are none. Other modules see through it: without that each look
    /// would ask the runtime for the types of its closure.
    @usableFromInline package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
        /// What locks; `withLock` alone uses it.
        @usableFromInline package let mutex: Mutex<Value>

        /// A lock that is open, around `value`.
        @inlinable package init(_ value: consuming sending Value) { mutex = Mutex(value) }

        /// Runs `body` with sole access to the value.
        @inlinable @inline(__always) package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            #if LUPINE_HELD_LOCKS
                HeldLocks.taken()
                defer { HeldLocks.released() }
            #endif
            return try mutex.withLock(body)
        }

        /// For a caller that the last holder has woken through a continuation: that orders the two, but
        /// ThreadSanitizer does not see it. Does nothing but under `-D LUPINE_TSAN`.
        @inline(__always) package func showOrder() {}
    }
#endif
