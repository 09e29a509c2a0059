// SPDX-License-Identifier: MIT

/// A receive window: the octets of DATA that the peer may still send, on a stream or on the connection. It also decides when
/// WINDOW_UPDATE is sent.
///
/// Received octets are taken out of the window. When they have been consumed or dropped, they are added to the pending increment.
/// WINDOW_UPDATE with this increment is sent as soon as the increment is half of the target, or as large as what is left of the
/// window. So the peer must stop sending only if the content is not consumed, and few frames are sent while it is. In a large
/// window, the pending increment is sent at 512 KiB, because another round trip passes before the peer can use it. The window,
/// the pending increment and the unconsumed octets always add up to the target.
struct ReceiveWindow: Hashable, Sendable {
    /// The largest target that `raise(to:)` sets: a later change of SETTINGS_INITIAL_WINDOW_SIZE can add to it.
    static let largestTarget = 1 << 30

    /// The pending increment at which a WINDOW_UPDATE is always sent.
    static let largestPendingIncrement = 512 * 1024

    private var window: FlowWindow
    /// The size of the window when all received octets have been consumed and returned to it.
    private(set) var target: Int
    /// The octets that were consumed or dropped, and that no WINDOW_UPDATE has announced yet.
    private(set) var pendingIncrement = 0

    /// Creates a window that has this size and target.
    init(_ size: Int) {
        window = FlowWindow(size)
        target = window.size
    }

    /// The octets that the peer may send now.
    var available: Int { window.available }

    /// Takes the payload of a received DATA frame, including padding, out of the window.
    mutating func debit(_ count: Int) throws(FlowControlError) { try window.debit(count) }

    /// Adds consumed or dropped octets to the pending increment. Returns the increment of the WINDOW_UPDATE to send, 0 if none is
    /// due.
    mutating func release(_ count: Int) -> Int {
        pendingIncrement &+= count
        return enlargeIfDue()
    }

    /// Enlarges the target, up to `largestTarget`. Returns the increment of the WINDOW_UPDATE to send, 0 if the target is already
    /// as large.
    mutating func raise(to size: Int) -> Int {
        let growth = min(size, Self.largestTarget) &- target
        guard growth > 0 else { return 0 }
        target &+= growth
        return enlarge(by: pendingIncrement &+ growth)
    }

    /// Applies a change of SETTINGS_INITIAL_WINDOW_SIZE, which moves the peer's window without a WINDOW_UPDATE. Returns the
    /// increment of the WINDOW_UPDATE to send, 0 if none is due: a pending increment that was small for a large window may block
    /// the peer in a small one.
    mutating func change(by difference: Int) -> Int {
        let oldSize = window.size
        window = FlowWindow(oldSize &+ difference)
        // The target changes as the window does, which is less than `difference` if `FlowWindow` has limited the new size.
        target &+= window.size &- oldSize
        return enlargeIfDue()
    }

    /// Adds the pending increment to the window if a WINDOW_UPDATE is due; returns the increment, or 0 if none is due.
    private mutating func enlargeIfDue() -> Int {
        let threshold = min(target / 2, Self.largestPendingIncrement, window.available)
        let isDue = pendingIncrement > 0 && pendingIncrement >= threshold
        return isDue ? enlarge(by: pendingIncrement) : 0
    }

    /// Enlarges the window, clears the pending increment and returns the increment of the WINDOW_UPDATE.
    private mutating func enlarge(by increment: Int) -> Int {
        // `credit` does not throw: the window never exceeds its target, which is at most `FlowWindow.largest`.
        guard (try? window.credit(increment)) != nil else { return 0 }
        pendingIncrement = 0
        return increment
    }
}
