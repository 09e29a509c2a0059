// SPDX-License-Identifier: MIT

/// A connection after an upgrade, by which the upgrade handler sends, resumes and closes. Confined to its loop.
///
/// It carries a tunnel (CONNECT), or another protocol after a 101 response. Over HTTP/2 it is a single stream (RFC 8441).
package final class UpgradedConnection {
    private weak var connection: (any UpgradedChannel)?
    /// The loop that it runs on.
    package let loop: EventLoop

    init(_ connection: any UpgradedChannel, on loop: EventLoop) {
        self.connection = connection
        self.loop = loop
    }

    /// Sends bytes in order, as soon as the channel accepts them. The handler is not called before this method returns.
    ///
    /// - Returns: How many bytes wait in memory; when none wait, `UpgradeHandler.drained` is called. Nil if the connection can
    ///   send no more; the handler's `closed` follows, after the bytes that were received before.
    package func send(_ bytes: [UInt8]) -> Int? { connection?.sendUpgraded(bytes) }

    /// Resumes reading after the handler has answered `.pause`.
    package func resume() { connection?.resumeUpgraded() }

    /// Closes immediately and drops unsent bytes. The handler receives no further calls.
    package func close() { connection?.closeUpgraded() }
}

/// Implements the methods of `UpgradedConnection`, which document the requirements below. The conforming types are
/// `HTTP1Connection`, and `HTTP2Tunnel` for a stream.
protocol UpgradedChannel: AnyObject {
    func sendUpgraded(_ bytes: [UInt8]) -> Int?
    func resumeUpgraded()
    func closeUpgraded()
}

/// Receives the bytes of an upgraded connection. The methods are called on the connection's loop.
package protocol UpgradeHandler: AnyObject {
    /// Called with received bytes, which are borrowed for the duration of the call. The return value says whether the handler
    /// accepts more; `.enough` closes the connection.
    func received(_ bytes: Span<UInt8>) -> Demand
    /// Called when the kernel has accepted all bytes that were to be sent.
    func drained()
    /// Called when the connection has ended; `error` is nil if the peer closed it in order.
    func closed(_ error: TransportError?)
}

/// The handler that the default implementation of `ExchangeSink.upgraded` returns, for sinks that never ask for an upgrade.
final class RefusedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
