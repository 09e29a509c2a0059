// SPDX-License-Identifier: MIT

#if LUPINE_HELD_LOCKS
    internal import CLupineLinux

    /// Counts the library's locks that the calling thread holds. In the builds for the sanitizers (`-D LUPINE_HELD_LOCKS`), each
    /// lock calls these functions; other builds do not contain them.
    @usableFromInline package enum HeldLocks {
        /// Counts a lock that has been acquired.
        @usableFromInline package static func recordAcquisition() { lupine_note_lock(1) }

        /// Counts a lock that has been released.
        @usableFromInline package static func recordRelease() { lupine_note_lock(-1) }

        /// The number of locks that the calling thread holds.
        package static var count: Int { Int(lupine_held_locks()) }
    }

    /// Stops the program if the calling thread holds one of the library's locks. The library calls it wherever it calls code of
    /// the program: under a lock, that code would deadlock as soon as it called the library (O-6).
    package func assertNoLockIsHeld() {
        precondition(HeldLocks.count == 0, "the program's code is called under a lock")
    }
#else
    /// Does nothing except under `-D LUPINE_HELD_LOCKS`, where it stops the program if the calling thread holds one of the
    /// library's locks. The library calls it wherever it calls code of the program: under a lock, that code would deadlock as
    /// soon as it called the library (O-6).
    @inlinable @inline(__always) package func assertNoLockIsHeld() {}
#endif
