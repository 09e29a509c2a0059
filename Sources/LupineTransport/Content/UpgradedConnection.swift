// SPDX-License-Identifier: MIT

/// A connection that no longer speaks HTTP: a tunnel, or another protocol after 101; or a single HTTP/2 stream in that state
/// (RFC 8441).
///
/// The owner of the `UpgradeHandler` sends, resumes and closes with it. Confined to its loop.
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
    /// - Returns: How many bytes now wait in memory, as a measure for back-pressure; `UpgradeHandler.drained` is called when the
    ///   number returns to 0. Nil if the connection cannot send any more; the handler's `closed` follows, after the bytes that
    ///   were received before.
    package func send(_ bytes: [UInt8]) -> Int? { connection?.sendUpgraded(bytes) }

    /// Resumes reading after the handler has answered `.pause`.
    package func resume() { connection?.resumeUpgraded() }

    /// Closes immediately and drops unsent bytes. The handler receives no further calls.
    package func close() { connection?.closeUpgraded() }
}

/// Implements the methods of `UpgradedConnection`: an HTTP/1.1 connection, or the tunnel on an HTTP/2 stream.
protocol UpgradedChannel: AnyObject {
    func sendUpgraded(_ bytes: [UInt8]) -> Int?
    func resumeUpgraded()
    func closeUpgraded()
}

/// Receives the bytes of an upgraded connection. The methods are called on the connection's loop.
package protocol UpgradeHandler: AnyObject {
    /// Called with received bytes, which are borrowed for the duration of the call. `.enough` closes the connection.
    func received(_ bytes: Span<UInt8>) -> Demand
    /// Called when the kernel has accepted all bytes that were to be sent.
    func drained()
    /// Called when the connection has ended; `error` is nil if the peer closed it in order.
    func closed(_ error: TransportError?)
}

/// The handler that the default `ExchangeSink.upgraded` returns, for sinks that never ask for an upgrade.
final class RefusedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
