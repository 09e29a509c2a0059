// SPDX-License-Identifier: MIT

/// The result of a dial: a connected channel, registered with its loop. Confined to that loop. The owner calls `takeChannel`
/// once.
final class DialedChannel {
    private var channel: ByteChannel?
    let registration: Registration
    let route: ConnectionRoute
    /// The times of the look-up, of connecting and of the TLS handshake.
    let times: DialMetrics
    /// Whether there may be input that the loop has already reported.
    let mayRead: Bool
    /// The pool key that the connection belongs to, if an answer of the program has changed its TLS profile; nil if it belongs to
    /// the key that it was opened for.
    var newKey: Origin?
    /// Whether client and origin speak HTTP/2.
    var speaksHTTP2 = false
    /// The bytes of the origin that arrived together with the proxy's answer. The owner handles them before it reads the channel.
    var firstOriginBytes: [UInt8] = []

    init(
        _ channel: consuming ByteChannel, _ registration: Registration, _ route: ConnectionRoute,
        times: DialMetrics, mayRead: Bool
    ) {
        self.channel = consume channel
        self.registration = registration
        self.route = route
        self.times = times
        self.mayRead = mayRead
    }

    /// Returns the channel, or nil if it has been taken.
    func takeChannel() -> ByteChannel? { channel.take() }
}
