// SPDX-License-Identifier: MIT

#if LUPINE_HELD_LOCKS
    internal import LupineTransport

    /// The number of locks that the calling thread holds. Adds the locks of the layer above to the count of
    /// `LupineTransport.HeldLocks`.
    package enum HeldLocks {
        /// Records that a lock was taken.
        package static func taken() { LupineTransport.HeldLocks.taken() }

        /// Records that a lock was released.
        package static func released() { LupineTransport.HeldLocks.released() }

        /// The number of locks held.
        package static var count: Int { LupineTransport.HeldLocks.count }
    }

    /// Traps if the calling thread holds a lock of the library's; see the function in LupineTransport.
    package func assertNoLockIsHeld() { LupineTransport.assertNoLockIsHeld() }

    /// Traps if the calling thread runs an event loop; see the function in LupineTransport.
    package func assertNotOnLoop() { LupineTransport.assertNotOnLoop() }
#else
    /// Has an effect only under `-D LUPINE_HELD_LOCKS`; see the function in LupineTransport.
    @inlinable @inline(__always) package func assertNoLockIsHeld() {}

    /// Has an effect only under `-D LUPINE_HELD_LOCKS`; see the function in LupineTransport.
    @inlinable @inline(__always) package func assertNotOnLoop() {}
#endif
