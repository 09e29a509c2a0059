// SPDX-License-Identifier: MIT

internal import Synchronization

/// Identifies the thread that runs a loop: its own, once that has started, or one that has borrowed the loop (`LoopAccess`).
package final class LoopIdentity: Sendable {
    /// The number of the thread (`NativeThread.current`); 0 for none. Relaxed ordering suffices, because a thread only asks
    /// whether the number is its own. `LoopAccess` orders the accesses to the loop's state.
    private let thread = Atomic<UInt>(0)

    init() {}

    /// Whether the calling thread runs the loop.
    package var isCurrent: Bool {
        @inline(__always) get { thread.load(ordering: .relaxed) == NativeThread.current }
    }

    /// Called by the loop's thread when it starts.
    func adoptCurrentThread(of loop: EventLoop) {
        NativeThread.mark(asLoop: loop)
        thread.store(NativeThread.current, ordering: .relaxed)
    }

    /// Called by the loop's thread before it ends: the system may give its number to another thread.
    func abandon() {
        thread.store(0, ordering: .relaxed)
        NativeThread.mark(asLoop: nil)
    }

    /// Called by a thread that has borrowed the loop. Returns the number of the loop's own thread, for `giveBack(to:)`.
    func lend(_ loop: EventLoop) -> UInt {
        let owner = thread.load(ordering: .relaxed)
        adoptCurrentThread(of: loop)
        return owner
    }

    /// Called by a thread that has borrowed the loop, before it gives the loop back to the loop's own thread.
    func giveBack(to owner: UInt) {
        NativeThread.mark(asLoop: nil)
        thread.store(owner, ordering: .relaxed)
    }

    /// Traps if the calling thread does not run the loop.
    @inline(__always)
    package func preconditionCurrent() {
        precondition(isCurrent, "this may only be touched on its event loop")
    }
}

/// Carries a value that is confined to a loop across threads. The transport has no other type for this.
///
/// Any thread may store, copy and release the wrapper. Only the value's loop may read the value; a read on any other thread traps
/// instead of causing a data race. If another thread releases the last wrapper, it destroys the value, so the value's `deinit`
/// must not need the loop.
package struct LoopBound<Value>: @unchecked Sendable {
    private let confined: Value
    private let identity: LoopIdentity

    /// Wraps a value of the calling loop.
    package init(_ value: Value, on loop: EventLoop) {
        loop.preconditionOnLoop()
        confined = value
        identity = loop.identity
    }

    /// Transfers a value to a loop; the caller keeps no reference to the value.
    package init(sending value: sending Value, to loop: EventLoop) {
        confined = value
        identity = loop.identity
    }

    init(sending value: sending Value, to identity: LoopIdentity) {
        confined = value
        self.identity = identity
    }

    /// The value; traps if the calling thread does not run the value's loop.
    package var value: Value {
        @inline(__always) get {
            identity.preconditionCurrent()
            return confined
        }
    }
}
