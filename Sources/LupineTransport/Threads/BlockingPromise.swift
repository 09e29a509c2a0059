// SPDX-License-Identifier: MIT

/// A value that one thread makes while another blocks until it is there: for callers outside the loops that cannot use a
/// callback.
///
/// Any thread may set the value, once; later values are dropped. A loop must not wait here: the maker of the value might need it.
final class BlockingPromise<Value: Sendable>: Sendable {
    private let value = Lock<Value?>(nil)
    private let wakeUp: WakeUp

    /// A promise without a value.
    init() throws(Errno) { wakeUp = try WakeUp() }

    /// Sets the value; returns false if there was one.
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

    /// Blocks until the value is there; returns nil at `deadline`.
    func wait(until deadline: Instant, clock: some TransportClock = MonotonicClock()) throws(Errno) -> Value?
    {
        precondition(!NativeThread.isLoop, "an event loop may not wait")
        while true {
            if let given = value.withLock({ $0 }) { return given }
            let left = (deadline - clock.now()).nanoseconds
            guard left > 0 else { return nil }
            _ = try Syscalls.waitReadable(
                wakeUp.descriptor.rawValue, milliseconds: Int32(clamping: (left - 1) / 1_000_000 + 1))
        }
    }
}
