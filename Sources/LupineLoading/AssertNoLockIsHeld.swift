// SPDX-License-Identifier: MIT

#if LUPINE_HELD_LOCKS
    internal import LupineTransport

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
