// SPDX-License-Identifier: MIT

internal import Synchronization

/// Which thread is a loop's; known from the moment that the thread starts.
package final class LoopIdentity: Sendable {
    private let thread = Atomic<UInt>(0)

    init() {}

    /// Whether the calling thread is the loop's.
    package var isCurrent: Bool {
        @inline(__always) get { thread.load(ordering: .relaxed) == NativeThread.current }
    }

    /// By the loop's thread, first thing.
    func adoptCurrentThread(of loop: EventLoop) {
        NativeThread.mark(asLoop: loop)
        thread.store(NativeThread.current, ordering: .relaxed)
    }

    /// By the loop's thread, last thing: its number may be given to another thread.
    func abandon() {
        thread.store(0, ordering: .relaxed)
        NativeThread.mark(asLoop: nil)
    }

    /// Stops the program on any other thread.
    @inline(__always)
    package func preconditionCurrent() {
        precondition(isCurrent, "this may only be touched on its event loop")
    }
}

/// Carries a loop-confined value across threads: the one crossing type of the transport.
///
/// The envelope may be held, copied and dropped anywhere; the value can be taken out only on its loop,
/// where a wrong thread stops the program instead of racing. Dropping the last envelope elsewhere ends the
/// value's life there, so what it holds must not need its loop to be destroyed.
package struct LoopBound<Value>: @unchecked Sendable {
    private let confined: Value
    private let identity: LoopIdentity

    /// Wraps a value of the calling loop.
    package init(_ value: Value, on loop: EventLoop) {
        loop.preconditionOnLoop()
        confined = value
        identity = loop.identity
    }

    /// Gives a value to a loop; the giver keeps no way to it.
    package init(sending value: sending Value, to loop: EventLoop) {
        confined = value
        identity = loop.identity
    }

    init(sending value: sending Value, to identity: LoopIdentity) {
        confined = value
        self.identity = identity
    }

    /// The value, on its loop only.
    package var value: Value {
        @inline(__always) get {
            identity.preconditionCurrent()
            return confined
        }
    }
}
