// SPDX-License-Identifier: MIT

/// The result of a dial: a connected channel, registered with its loop, to be taken once. Confined to that loop.
final class DialedChannel {
    private var channel: ByteChannel?
    let registration: Registration
    let route: ConnectionRoute
    /// Whether there may be input that the loop has already reported.
    let mayRead: Bool
    /// The pool key to lease it under; nil for the one that it was opened for.
    var newKey: Origin?
    /// Whether HTTP/2 is spoken.
    var speaksHTTP2 = false
    /// The bytes received behind a proxy's answer.
    var firstOriginBytes: [UInt8] = []

    init(
        _ channel: consuming ByteChannel, _ registration: Registration, _ route: ConnectionRoute,
        mayRead: Bool
    ) {
        self.channel = consume channel
        self.registration = registration
        self.route = route
        self.mayRead = mayRead
    }

    /// Returns the channel, or nil if it has been taken.
    func takeChannel() -> ByteChannel? { channel.take() }
}
