// SPDX-License-Identifier: MIT

#if LUPINE_HELD_LOCKS
    internal import LupineTransport

    /// How many locks the calling thread holds, for the locks of the layer above: see the transport's.
    package enum HeldLocks {
        /// One more.
        package static func taken() { LupineTransport.HeldLocks.taken() }

        /// One less.
        package static func released() { LupineTransport.HeldLocks.released() }

        /// So many.
        package static var count: Int { LupineTransport.HeldLocks.count }
    }

    /// Stops the program if the calling thread holds a lock of the library's; see the transport's.
    package func assertNoLockIsHeld() { LupineTransport.assertNoLockIsHeld() }

    /// Stops the program if the calling thread runs an event loop; see the transport's.
    package func assertNotOnLoop() { LupineTransport.assertNotOnLoop() }
#else
    /// Nothing but under `-D LUPINE_HELD_LOCKS`; see the transport's.
    @inlinable @inline(__always) package func assertNoLockIsHeld() {}

    /// Nothing but under `-D LUPINE_HELD_LOCKS`; see the transport's.
    @inlinable @inline(__always) package func assertNotOnLoop() {}
#endif
