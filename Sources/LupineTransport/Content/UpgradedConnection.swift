// SPDX-License-Identifier: MIT

/// A connection that no longer speaks HTTP: a tunnel, or another protocol after 101; or a single HTTP/2 stream in that state
/// (RFC 8441).
///
/// It belongs to the owner of its handler, and is confined to its loop.
package final class UpgradedConnection {
    private weak var connection: (any UpgradedChannel)?
    /// The loop that it runs on.
    package let loop: EventLoop

    init(_ connection: any UpgradedChannel, on loop: EventLoop) {
        self.connection = connection
        self.loop = loop
    }

    /// Sends bytes in order, as soon as the channel accepts them. The handler is not called before this returns.
    ///
    /// - Returns: How many bytes now wait in memory, as a measure for back-pressure; `UpgradeHandler.drained` is called when
    ///   the number returns to 0. Nil when nothing can be sent any more: `closed` is called after the bytes received before.
    package func send(_ bytes: [UInt8]) -> Int? { connection?.sendUpgraded(bytes) }

    /// Resumes reading after the handler has answered `.pause`.
    package func resume() { connection?.resumeUpgraded() }

    /// Closes immediately and drops unsent bytes. The handler receives no further calls.
    package func close() { connection?.closeUpgraded() }
}

/// The transport of an upgraded connection; its methods implement those of `UpgradedConnection`.
protocol UpgradedChannel: AnyObject {
    func sendUpgraded(_ bytes: [UInt8]) -> Int?
    func resumeUpgraded()
    func closeUpgraded()
}

/// The handler of the other protocol. Calls come on the connection's loop.
package protocol UpgradeHandler: AnyObject {
    /// Bytes, borrowed for the duration of the call. `.enough` closes the connection.
    func received(_ bytes: Span<UInt8>) -> Demand
    /// All bytes to be sent have been given to the kernel.
    func drained()
    /// The connection is gone. The error is nil when the peer closed in order.
    func closed(_ error: TransportError?)
}

/// The handler for sinks that never ask for an upgrade.
final class RefusedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
