// SPDX-License-Identifier: MIT

/// A connection that has left HTTP behind: a tunnel, or another protocol after 101; or a stream of HTTP/2 that has done so
/// alone (RFC 8441).
///
/// It belongs to whoever's handler it was given, and to its loop: all calls on that loop.
package final class UpgradedConnection {
    private weak var connection: (any UpgradedChannel)?
    /// The loop that it lives on.
    package let loop: EventLoop

    init(_ connection: any UpgradedChannel, on loop: EventLoop) {
        self.connection = connection
        self.loop = loop
    }

    /// Sends bytes, in order, as soon as they can go. The handler is not called before this returns.
    ///
    /// - Returns: How many bytes now wait in memory: the caller's measure for back-pressure; `UpgradeHandler.drained` follows
    ///   when it is none again. Nil when nothing can be sent any more: `closed` follows, behind what has come before.
    package func send(_ bytes: [UInt8]) -> Int? { connection?.sendUpgraded(bytes) }

    /// Goes on reading after the handler has answered `.pause`.
    package func resume() { connection?.resumeUpgraded() }

    /// Closes at once what is not sent yet. The handler hears no more.
    package func close() { connection?.closeUpgraded() }
}

/// What carries the octets of an upgraded connection, and does what that one promises.
protocol UpgradedChannel: AnyObject {
    func sendUpgraded(_ bytes: [UInt8]) -> Int?
    func resumeUpgraded()
    func closeUpgraded()
}

extension HTTP1Connection: UpgradedChannel {}

/// Whoever speaks the other protocol. Calls come on the connection's loop.
package protocol UpgradeHandler: AnyObject {
    /// Bytes, borrowed for the duration of the call. `.enough` closes the connection.
    func received(_ bytes: Span<UInt8>) -> Demand
    /// Everything that was to be sent has been given to the kernel.
    func drained()
    /// The connection is gone: nil when the peer closed in order.
    func closed(_ error: TransportError?)
}

/// For sinks that never ask for an upgrade.
final class RefusedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
