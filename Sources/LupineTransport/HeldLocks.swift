// SPDX-License-Identifier: MIT

#if LUPINE_HELD_LOCKS
    internal import CLupineLinux

    /// How many of the library's locks the calling thread holds: noted by each lock in the builds that the sanitizers use
    /// (`-D LUPINE_HELD_LOCKS`). In all others there is nothing of it.
    @usableFromInline package enum HeldLocks {
        /// One more.
        @usableFromInline package static func taken() { lupine_note_lock(1) }

        /// One less.
        @usableFromInline package static func released() { lupine_note_lock(-1) }

        /// So many.
        package static var count: Int { Int(lupine_held_locks()) }
    }

    /// Stops the program if the calling thread holds a lock of the library's. Stands wherever the program's code is called:
    /// under a lock, that code would stop the library as soon as it asked for anything (O-6).
    package func assertNoLockIsHeld() {
        precondition(HeldLocks.count == 0, "the program's code is called under a lock")
    }

    /// Stops the program if the calling thread runs an event loop. Stands where code of the program's is called that may block:
    /// it would hold up all connections of that loop (O-7). What is called inside a job that the program has put on the loop is
    /// where the program wanted it.
    package func assertNotOnLoop() {
        precondition(
            !NativeThread.isLoop || EventLoop.ofRunningJob != nil,
            "the program's code is called on an event loop")
    }
#else
    /// Nothing but under `-D LUPINE_HELD_LOCKS`: there it stops the program if the calling thread holds a lock of the
    /// library's. Stands wherever the program's code is called: under a lock, that code would stop the library as soon as it
    /// asked for anything (O-6).
    @inlinable @inline(__always) package func assertNoLockIsHeld() {}

    /// Nothing but under `-D LUPINE_HELD_LOCKS`: there it stops the program if the calling thread runs an event loop. Stands
    /// where code of the program's is called that may block: it would hold up all connections of that loop (O-7).
    @inlinable @inline(__always) package func assertNotOnLoop() {}
#endif
