// SPDX-License-Identifier: MIT

/// A value that one thread waits for, blocking, while another one makes it: the bridge from loops to callers that
/// cannot be called back.
///
/// Any thread may give the value, once; what comes later is dropped. A loop never waits here: whoever made the value
/// might need it.
final class Rendezvous<Value: Sendable>: Sendable {
    private let value = Lock<Value?>(nil)
    private let bell: WakeUp

    /// A meeting to which nobody has come.
    init() throws(Errno) { bell = try WakeUp() }

    /// Gives the value; false when there was one.
    @discardableResult
    func give(_ given: Value) -> Bool {
        let isFirst = value.withLock { value -> Bool in
            guard value == nil else { return false }
            value = given
            return true
        }
        if isFirst { bell.ring() }
        return isFirst
    }

    /// Waits for the value; nil when `deadline` comes first.
    func wait(until deadline: Instant, clock: some TransportClock = MonotonicClock()) throws(Errno) -> Value?
    {
        precondition(!NativeThread.isLoop, "an event loop may not wait")
        while true {
            if let given = value.withLock({ $0 }) { return given }
            let left = (deadline - clock.now()).nanoseconds
            guard left > 0 else { return nil }
            _ = try Syscalls.waitReadable(
                bell.descriptor.rawValue, milliseconds: Int32(clamping: (left - 1) / 1_000_000 + 1))
        }
    }
}
