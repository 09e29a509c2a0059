// SPDX-License-Identifier: MIT

/// A receive window: the octets of DATA that the peer may still send, on a stream or on the connection. It also decides when
/// WINDOW_UPDATE is sent.
///
/// Received octets are taken out of the window, and are owed to the peer once they have been consumed or dropped. One
/// WINDOW_UPDATE returns the owed octets as soon as they are half of the target, or as many as the peer may still send. A
/// consumer that stops reading thus stops only its own peer, and one that keeps reading causes few frames. In a large window,
/// at most 512 KiB are owed, since the peer cannot use owed octets for another round trip. The window, the owed octets and the
/// unconsumed octets always add up to the target.
struct ReceiveWindow: Hashable, Sendable {
    /// The largest target that `raise(to:)` sets: a later change of SETTINGS_INITIAL_WINDOW_SIZE can add to it.
    static let largestTarget = 1 << 30

    /// The number of owed octets at which a WINDOW_UPDATE is sent in any case.
    static let mostOwed = 512 * 1024

    private var window: FlowWindow
    /// The size of the window when everything has been consumed and returned.
    private(set) var target: Int
    /// The octets that were consumed and have not been returned yet.
    private(set) var owed = 0

    /// Creates a window of a size, from which nothing has been taken.
    init(_ size: Int) {
        window = FlowWindow(size)
        target = window.size
    }

    /// The octets that the peer may send now.
    var available: Int { window.available }

    /// Takes the payload of a received DATA frame, including padding, out of the window.
    mutating func take(_ count: Int) throws(FlowControlError) { try window.debit(count) }

    /// Adds consumed or dropped octets to the owed ones. Returns the increment of the WINDOW_UPDATE to send, 0 if none is due.
    mutating func giveBack(_ count: Int) -> Int {
        owed &+= count
        return openIfDue()
    }

    /// Enlarges the target. Returns the increment of the WINDOW_UPDATE to send, 0 if the target is already as large.
    mutating func raise(to size: Int) -> Int {
        let growth = min(size, Self.largestTarget) &- target
        guard growth > 0 else { return 0 }
        target &+= growth
        return open(by: owed &+ growth)
    }

    /// Applies a change of SETTINGS_INITIAL_WINDOW_SIZE, which moves the peer's window without a WINDOW_UPDATE. Returns the
    /// increment of the WINDOW_UPDATE to send, 0 if none is due: owed octets that were few for a large window may block the peer
    /// in a small one.
    mutating func change(by difference: Int) -> Int {
        let before = window.size
        window = FlowWindow(before &+ difference)
        target &+= window.size &- before
        return openIfDue()
    }

    private mutating func openIfDue() -> Int {
        owed > 0 && owed >= min(target / 2, Self.mostOwed, window.available) ? open(by: owed) : 0
    }

    private mutating func open(by increment: Int) -> Int {
        // The window never exceeds its target, which is at most `FlowWindow.largest`.
        guard (try? window.credit(increment)) != nil else { return 0 }
        owed = 0
        return increment
    }
}
