// SPDX-License-Identifier: MIT

#if DEBUG
    internal import Glibc
    internal import Synchronization

    /// Makes selected system calls of the calling thread fail with selected errors, in debug builds only.
    ///
    /// Tests use it for errors that are hard to provoke (`EMFILE`, `EINTR`, `ENOBUFS`). A fault applies only to the thread that
    /// injected it, so that concurrent tests do not affect each other. To make a loop's calls fail, a test injects the fault in
    /// work that it submits to that loop.
    enum SyscallFaults {
        /// The number of unused faults of all threads. If it is 0, a system call need not take the lock.
        private static let unusedCount = Atomic<Int>(0)
        /// The unused faults of each thread and system call, in the order in which they are thrown.
        private static let faults = Lock<[Key: [Errno]]>([:])

        /// A system call of one thread.
        private struct Key: Hashable {
            /// The number of the thread (`NativeThread.current`).
            let thread: UInt
            let call: Syscall
        }

        /// Makes the next calls of `call` by this thread fail with `errors`, in this order, without a system call.
        static func inject(_ errors: [Errno], in call: Syscall) {
            let key = Key(thread: NativeThread.current, call: call)
            faults.withLock { $0[key, default: []] += errors }
            unusedCount.add(errors.count, ordering: .relaxed)
        }

        /// Removes the unused faults of this thread for `call` and returns their number.
        @discardableResult
        static func removeUnused(_ call: Syscall) -> Int {
            let key = Key(thread: NativeThread.current, call: call)
            let removedCount = faults.withLock { $0.removeValue(forKey: key)?.count ?? 0 }
            unusedCount.subtract(removedCount, ordering: .relaxed)
            return removedCount
        }

        /// Removes and returns the next fault for `call`, if one is injected.
        static func next(_ call: Syscall) -> Errno? {
            guard unusedCount.load(ordering: .relaxed) > 0 else { return nil }
            let key = Key(thread: NativeThread.current, call: call)
            let fault = faults.withLock { faults -> Errno? in
                guard var errors = faults[key], !errors.isEmpty else { return nil }
                let error = errors.removeFirst()
                // Nil removes the key.
                faults[key] = errors.isEmpty ? nil : errors
                return error
            }
            if fault != nil { unusedCount.subtract(1, ordering: .relaxed) }
            return fault
        }
    }
#endif
