// SPDX-License-Identifier: MIT

#if LUPINE_HELD_LOCKS
    internal import LupineTransport

    /// Counts the locks that the calling thread holds. Makes the counter of LupineTransport, `LupineTransport.HeldLocks`,
    /// available to the layer above this module, so that its locks are counted, too.
    package enum HeldLocks {
        /// Records that the calling thread has acquired a lock.
        package static func recordAcquisition() { LupineTransport.HeldLocks.recordAcquisition() }

        /// Records that the calling thread has released a lock.
        package static func recordRelease() { LupineTransport.HeldLocks.recordRelease() }

        /// The number of locks that the calling thread holds.
        package static var count: Int { LupineTransport.HeldLocks.count }
    }

    /// Traps if the calling thread holds a lock of the library. Calls the function of this name in LupineTransport.
    package func assertNoLockIsHeld() { LupineTransport.assertNoLockIsHeld() }

    /// Traps if the calling thread runs an event loop. Calls the function of this name in LupineTransport.
    package func assertNotOnLoop() { LupineTransport.assertNotOnLoop() }
#else
    /// Does nothing. Compiled with `-D LUPINE_HELD_LOCKS`, traps if the calling thread holds a lock of the library.
    @inlinable @inline(__always) package func assertNoLockIsHeld() {}

    /// Does nothing. Compiled with `-D LUPINE_HELD_LOCKS`, traps if the calling thread runs an event loop.
    @inlinable @inline(__always) package func assertNotOnLoop() {}
#endif
