// SPDX-License-Identifier: MIT

#if LUPINE_HELD_LOCKS
    /// Stops the program if the calling thread runs an event loop. The library calls it before it calls code of the program that
    /// may block, which would stall all connections of that loop (O-7). Code inside a Swift job that the program enqueued on the
    /// loop is exempt.
    package func assertNotOnLoop() {
        precondition(
            !NativeThread.isLoop || EventLoop.ofRunningJob != nil,
            "the program's code is called on an event loop")
    }
#else
    /// Does nothing except under `-D LUPINE_HELD_LOCKS`, where it stops the program if the calling thread runs an event loop.
    /// The library calls it before it calls code of the program that may block, which would stall all connections of that loop
    /// (O-7).
    @inlinable @inline(__always) package func assertNotOnLoop() {}
#endif
