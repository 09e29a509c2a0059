// SPDX-License-Identifier: MIT

#if DEBUG
    internal import Glibc
    internal import Synchronization

    /// Makes selected system calls of the calling thread fail with selected errors, in debug builds only.
    ///
    /// For tests of errors that are hard to provoke (`EMFILE`, `EINTR`, `ENOBUFS`). A fault applies only to the thread that
    /// injected it, so that concurrent tests do not affect each other; to make a loop's calls fail, inject it in work submitted
    /// to that loop. Not compiled into release builds.
    enum SyscallFaults {
        /// The number of unused faults of all threads, so that a call without any takes no lock.
        private static let injected = Atomic<Int>(0)
        private static let table = Lock<[Key: [Errno]]>([:])

        private struct Key: Hashable {
            let thread: UInt
            let call: Syscall
        }

        /// Makes the next calls of `call` by this thread fail with `errors`, in this order, without a system call.
        static func inject(_ errors: [Errno], in call: Syscall) {
            let key = Key(thread: NativeThread.current, call: call)
            table.withLock { $0[key, default: []] += errors }
            injected.add(errors.count, ordering: .relaxed)
        }

        /// Removes the unused faults of this thread for `call` and returns their number.
        @discardableResult
        static func removeUnused(_ call: Syscall) -> Int {
            let key = Key(thread: NativeThread.current, call: call)
            let left = table.withLock { $0.removeValue(forKey: key)?.count ?? 0 }
            injected.subtract(left, ordering: .relaxed)
            return left
        }

        /// Removes and returns the next fault for `call`, if one is injected.
        static func next(_ call: Syscall) -> Errno? {
            guard injected.load(ordering: .relaxed) > 0 else { return nil }
            let key = Key(thread: NativeThread.current, call: call)
            let fault = table.withLock { table -> Errno? in
                guard var errors = table[key], !errors.isEmpty else { return nil }
                let first = errors.removeFirst()
                table[key] = errors.isEmpty ? nil : errors
                return first
            }
            if fault != nil { injected.subtract(1, ordering: .relaxed) }
            return fault
        }
    }
#endif
