// SPDX-License-Identifier: MIT

/// What a dial brings: a channel that stands, registered with its loop, to be taken once. It belongs to that loop.
final class DialedChannel {
    private var channel: ByteChannel?
    let registration: Registration
    let route: Carrier.Route
    /// Whether something may have come, of which the loop has told already.
    let mayRead: Bool
    /// The key that it is to be lent under; nil for the one that it was opened for.
    var home: Origin?
    /// Whether HTTP/2 is spoken.
    var speaksHTTP2 = false
    /// What came behind a proxy's answer.
    var early: [UInt8] = []

    init(
        _ channel: consuming ByteChannel, _ registration: Registration, _ route: Carrier.Route,
        mayRead: Bool
    ) {
        self.channel = consume channel
        self.registration = registration
        self.route = route
        self.mayRead = mayRead
    }

    /// The channel; nil when it has been taken before.
    func takeChannel() -> ByteChannel? { channel.take() }
}
