// SPDX-License-Identifier: MIT

#if LUPINE_TSAN
    import Glibc
#else
    public import Synchronization
#endif

#if LUPINE_TSAN
    /// The variant for builds with ThreadSanitizer: a `pthread_mutex_t` at a fixed address. The rules of the other `Lock` apply.
    @safe @usableFromInline package final class Lock<Value: ~Copyable>: @unchecked Sendable {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private var content: Content

        /// The value, and an octet that gives it an address of its own. Swift would place a value without size, such as `()`, at
        /// the beginning of the object, and ThreadSanitizer would take accesses to it for accesses to the object's header.
        private struct Content: ~Copyable {
            var value: Value
            let octet: UInt8 = 0
        }

        /// Creates an unlocked lock that guards `value`.
        @usableFromInline package init(_ value: consuming sending Value) {
            content = Content(value: value)
            unsafe mutex = .allocate(capacity: 1)
            unsafe mutex.initialize(to: pthread_mutex_t())
            unsafe pthread_mutex_init(mutex, nil)
        }

        deinit {
            unsafe pthread_mutex_destroy(mutex)
            unsafe mutex.deallocate()
        }

        /// Runs `body` with exclusive access to the value.
        @usableFromInline package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            #if LUPINE_HELD_LOCKS
                HeldLocks.recordAcquisition()
                defer { HeldLocks.recordRelease() }
            #endif
            return try body(&content.value)
        }

        /// Takes and releases the lock, which shows ThreadSanitizer that the last holder's actions happen before the caller's
        /// next ones.
        package func showOrder() { withLock { _ in } }
    }
#else
    /// The only lock type of the library: a mutex together with the value that it guards.
    ///
    /// The closure of `withLock` must neither call code outside of the library nor take another lock. Under `-D
    /// LUPINE_HELD_LOCKS`, `HeldLocks` counts the locks of each thread, and every call of the program's code checks the count.
    ///
    /// The lock is a `Mutex`. Under `-D LUPINE_TSAN` it is a `pthread_mutex_t` instead: ThreadSanitizer does not see the futex on
    /// which a contended `Mutex` waits, and would report false races. The type is inlinable, because the generic `withLock` would
    /// otherwise not be specialized in other modules, and each access would look up type metadata at run time.
    @usableFromInline package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
        /// Used only by `withLock`. Other modules can see it, because `withLock` is inlined into them.
        @usableFromInline package let mutex: Mutex<Value>

        /// Creates an unlocked lock that guards `value`.
        @inlinable package init(_ value: consuming sending Value) { mutex = Mutex(value) }

        /// Runs `body` with exclusive access to the value.
        @inlinable @inline(__always) package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            #if LUPINE_HELD_LOCKS
                HeldLocks.recordAcquisition()
                defer { HeldLocks.recordRelease() }
            #endif
            return try mutex.withLock(body)
        }

        /// Does nothing except under `-D LUPINE_TSAN`, where it shows ThreadSanitizer that the last holder's actions happen
        /// before the caller's next ones. A caller needs it if the last holder has resumed the caller through a continuation,
        /// which orders their actions: ThreadSanitizer does not see that order.
        @inline(__always) package func showOrder() {}
    }
#endif
