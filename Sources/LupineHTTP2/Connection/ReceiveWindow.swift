// SPDX-License-Identifier: MIT

/// How many octets of DATA the peer may still send, on a stream or on the connection, and when it is told of more.
///
/// Octets leave the window when they come, and are owed to the peer when they have been consumed or dropped. What is owed
/// is given back in one WINDOW_UPDATE as soon as it is half of the target, or as much as the peer may still send: a consumer
/// that stops stops its peer and nobody else's, and one that reads on costs few frames. Of a large window 512 KiB are given back
/// and no more waits: what is owed is out of the peer's reach for a round trip. The window, what is owed and what has not been
/// consumed are the target together.
struct ReceiveWindow: Hashable, Sendable {
    /// The largest target that can be asked for: there must be room left for a setting that adds to it.
    static let largestTarget = 1 << 30

    /// The most that is owed.
    static let mostOwed = 512 * 1024

    private var window: FlowWindow
    /// How large the window is when everything has been consumed and given back.
    private(set) var target: Int
    /// What was consumed and has not been given back yet.
    private(set) var owed = 0

    /// A window of which nothing has been taken.
    init(_ size: Int) {
        window = FlowWindow(size)
        target = window.size
    }

    /// How much the peer may send now.
    var available: Int { window.available }

    /// DATA came: all of its payload, with padding.
    mutating func take(_ count: Int) throws(FlowControlError) { try window.debit(count) }

    /// Octets were consumed or dropped. How much a WINDOW_UPDATE has to give, 0 when none is due yet.
    mutating func giveBack(_ count: Int) -> Int {
        owed &+= count
        return openIfDue()
    }

    /// The window becomes larger. How much a WINDOW_UPDATE has to give, 0 when it is as large already.
    mutating func raise(to size: Int) -> Int {
        let growth = min(size, Self.largestTarget) &- target
        guard growth > 0 else { return 0 }
        target &+= growth
        return open(by: owed &+ growth)
    }

    /// SETTINGS_INITIAL_WINDOW_SIZE changes, without a WINDOW_UPDATE, what the peer may count on. How much a WINDOW_UPDATE has to
    /// give then: what was too little to be told of a large window may be all that the peer waits for in a small one.
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
        // The window never grows over its target, which is no larger than the largest window.
        guard (try? window.credit(increment)) != nil else { return 0 }
        owed = 0
        return increment
    }
}
