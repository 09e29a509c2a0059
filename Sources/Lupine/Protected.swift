// SPDX-License-Identifier: MIT

#if LUPINE_TSAN
    import Glibc
#else
    import Synchronization
#endif
#if LUPINE_HELD_LOCKS
    import LupineLoading
#endif

/// A value and the one lock that guards it: the locked state of every class of the pipeline.
///
/// Not recursive, and nothing calls out of the library, or takes another lock, inside `read` and `write`: under
/// `-D LUPINE_HELD_LOCKS` it notes that its thread holds it, and every place that calls out looks. Any thread may call. The
/// value need not be `Sendable`, as long as what the closures hand out is not shared behind the lock's back; the compiler
/// cannot check that, which is why the class says it is `Sendable`.
///
/// It is a `Mutex`; under `-D LUPINE_TSAN` it is a `pthread_mutex_t`, because ThreadSanitizer does not see the futex that
/// a contended `Mutex` waits on and reports races that are none.
@safe final class Protected<Value>: @unchecked Sendable {
    #if LUPINE_TSAN
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    #else
        private let mutex = Mutex(())
    #endif
    // Nobody looks at it but under the lock, which is not recursive: what the runtime would check cannot be.
    @exclusivity(unchecked) private var value: Value

    /// A lock that is open, around `value`.
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

    /// Runs `body` with sole access to the value, to read it. It is lent as what could be changed, because the value itself
    /// would be a copy, and copying a large state costs more than the look at it.
    func read<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        try withLock(body)
    }

    /// Runs `body` with sole access to the value, to change it.
    @discardableResult
    func write<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        try withLock(body)
    }

    /// Puts another value in the place of the one that stands.
    func write(_ value: Value) {
        // The old value goes out of the lock before it goes away: its last reference may be this one.
        _ = withLock { stored in
            let old = stored
            stored = value
            return old
        }
    }

    @inline(__always)
    private func withLock<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        #if LUPINE_HELD_LOCKS
            HeldLocks.taken()
            defer { HeldLocks.released() }
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
        // One lock at a time: two comparisons in opposite order would wait for each other.
        left.read { $0 } == right.read { $0 }
    }
}

extension Protected: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        hasher.combine(read { $0 })
    }
}
