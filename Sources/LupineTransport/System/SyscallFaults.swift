// SPDX-License-Identifier: MIT

#if DEBUG
    internal import Glibc
    internal import Synchronization

    /// Makes chosen system calls of the calling thread fail with chosen numbers, in debug builds only.
    ///
    /// Tests use it for what a healthy kernel does not do on demand (`EMFILE`, `EINTR`, `ENOBUFS`). A fault
    /// belongs to the thread that planted it, so that tests running side by side do not meet each other's; to
    /// break a loop's calls, plant it in work submitted to that loop. Release builds have no trace of it.
    enum SyscallFaults {
        private static let planted = Atomic<Int>(0)
        private static let table = Lock<[Key: [Errno]]>([:])

        private struct Key: Hashable {
            let thread: UInt
            let call: Syscall
        }

        /// The next calls of `call` by this thread fail with `errors`, in this order, without being made.
        static func plant(_ errors: [Errno], in call: Syscall) {
            let key = Key(thread: NativeThread.current, call: call)
            table.withLock { $0[key, default: []] += errors }
            planted.add(errors.count, ordering: .relaxed)
        }

        /// Takes back what `plant` left unused on this thread and says how many faults that were.
        @discardableResult
        static func uproot(_ call: Syscall) -> Int {
            let key = Key(thread: NativeThread.current, call: call)
            let left = table.withLock { $0.removeValue(forKey: key)?.count ?? 0 }
            planted.subtract(left, ordering: .relaxed)
            return left
        }

        /// The fault that `call` is to meet now, if one is planted.
        static func next(_ call: Syscall) -> Errno? {
            guard planted.load(ordering: .relaxed) > 0 else { return nil }
            let key = Key(thread: NativeThread.current, call: call)
            let fault = table.withLock { table -> Errno? in
                guard var errors = table[key], !errors.isEmpty else { return nil }
                let first = errors.removeFirst()
                table[key] = errors.isEmpty ? nil : errors
                return first
            }
            if fault != nil { planted.subtract(1, ordering: .relaxed) }
            return fault
        }
    }
#endif
