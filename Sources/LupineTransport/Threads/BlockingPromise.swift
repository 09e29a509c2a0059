// SPDX-License-Identifier: MIT

/// A value that one thread sets, and for which another thread waits by blocking. Callers outside of the loops use it if they
/// cannot use a callback.
///
/// Any thread may set the value, once; later values are dropped. A loop must not wait for the value, because the thread that sets
/// it might need the loop.
final class BlockingPromise<Value: Sendable>: Sendable {
    private let value = Lock<Value?>(nil)
    private let wakeUp: WakeUp

    /// Creates a promise without a value.
    init() throws(Errno) { wakeUp = try WakeUp() }

    /// Sets the value; returns false if it was set before.
    @discardableResult
    func fulfill(_ newValue: Value) -> Bool {
        let isFirst = value.withLock { value -> Bool in
            guard value == nil else { return false }
            value = newValue
            return true
        }
        if isFirst { wakeUp.signal() }
        return isFirst
    }

    /// Blocks until the value is set and returns it; returns nil at `deadline`.
    func wait(until deadline: Instant, clock: some TransportClock = MonotonicClock()) throws(Errno) -> Value?
    {
        precondition(!NativeThread.isLoop, "an event loop may not wait")
        while true {
            if let value = value.withLock({ $0 }) { return value }
            let remaining = (deadline - clock.now()).nanoseconds
            guard remaining > 0 else { return nil }
            // The result is ignored: the next iteration checks the value in any case. The time is rounded up to milliseconds.
            _ = try Syscalls.waitReadable(
                wakeUp.descriptor.rawValue, milliseconds: Int32(clamping: (remaining - 1) / 1_000_000 + 1))
        }
    }
}
