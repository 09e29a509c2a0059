// SPDX-License-Identifier: MIT

import LupineHTTP

/// The connection after an upgrade to another protocol: it passes bytes to and from an `UpgradeHandler`.
extension HTTP1Connection {
    /// The state of an upgraded connection.
    final class Upgrade {
        /// The object by which the handler sends, and the handler; nil once the handler must not be called.
        var endpoint: (connection: UpgradedConnection, handler: any UpgradeHandler)?
        /// Whether the handler accepts bytes now.
        var acceptsBytes = true
        /// Set when the peer has closed while bytes wait to be sent: how the connection ends once they have been sent.
        var pendingEnd: End?
        /// Whether a call of the handler's `drained` is scheduled.
        var isDrainedCallScheduled = false

        /// How the connection ends; a nil error is an orderly close.
        struct End { let error: TransportError? }
    }

    /// Ends the exchange, and passes the connection to the handler that the sink returns. `bytes` were received after the head.
    func beginUpgrade(_ bytes: Span<UInt8>) {
        // `current` stays: its writer sends the bytes of the new protocol.
        guard let current, let exchange = current.detach(on: loop) else { return }
        _ = machine.handle(.upgraded)  // needs no action
        let upgrade = Upgrade()
        self.upgrade = upgrade
        // Silence is normal after an upgrade, so no deadline applies: only the probes detect that the peer is gone.
        startKeepAliveProbes()
        let connection = UpgradedConnection(self, on: loop)
        let handler = exchange.sink.upgraded(connection)
        // The sink may have closed the connection in `upgraded`.
        if machine.state == .upgraded { upgrade.endpoint = (connection, handler) }
        current.metrics.responseEnd = loop.now
        exchange.end(.success(Fields()), current.metrics)
        if !bytes.isEmpty { handleUpgraded(bytes) }
        read()
    }

    /// Passes received bytes to the handler.
    func handleUpgraded(_ bytes: Span<UInt8>) {
        guard let upgrade, let endpoint = upgrade.endpoint else { return }
        switch endpoint.handler.received(bytes) {
        case .more: break
        case .pause: upgrade.acceptsBytes = false
        case .enough: closeUpgraded()
        }
    }

    /// Continues to read after the handler has answered `.pause`.
    func resumeUpgraded() {
        guard machine.state == .upgraded, let upgrade, !upgrade.acceptsBytes, upgrade.pendingEnd == nil else {
            return
        }
        upgrade.acceptsBytes = true
        // This runs in a separate loop job: the handler may be inside `received`.
        yieldReading()
    }

    /// Sends bytes of the handler. Returns how many bytes wait in memory; nil if the connection can send no more.
    func sendUpgraded(_ bytes: [UInt8]) -> Int? {
        // After a write failure, no bytes are stored. The handler's `closed` reports the failure, after all received bytes.
        guard machine.state == .upgraded, writeFailure == nil else { return nil }
        current?.writer.add(upgraded: bytes)
        write()
        guard machine.state == .upgraded, writeFailure == nil else { return nil }
        // The number of bytes that wait inside TLS is unknown and counts as 1: the result is 0 only if no call of `drained`
        // follows.
        let waiting = current?.writer.waitingOctets ?? 0
        return channel.hasPendingOutput ? max(waiting, 1) : waiting
    }

    /// Whether nothing waits to be sent, neither in the writer nor in the channel.
    private var isDrained: Bool { !(current?.writer.hasOutput ?? false) && !channel.hasPendingOutput }

    /// Called after bytes have been sent. If no more wait, calls the handler's `drained`, or ends a connection whose peer has
    /// closed.
    func notifyIfDrained() {
        guard machine.state == .upgraded, isDrained else { return }
        if let end = upgrade?.pendingEnd { return endSoon(end) }
        notifyDrained()
    }

    /// Handles the end of the peer's stream. The peer may still read, so waiting bytes are sent before the connection closes.
    /// `error` is nil for an orderly end.
    func upgradedPeerClosed(_ error: TransportError?) {
        guard error == nil, !isDrained else { return endUpgrade(error) }
        upgrade?.acceptsBytes = false
        upgrade?.pendingEnd = Upgrade.End(error: nil)
        write()
    }

    /// Ends the upgraded connection in a separate loop job: the caller may be in the middle of sending bytes.
    private func endSoon(_ end: Upgrade.End) {
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            if bound.value.isDrained, bound.value.machine.state == .upgraded {
                bound.value.endUpgrade(end.error)
            }
        }
    }

    /// Calls the handler's `drained` in a separate loop job: a handler that sends more from there would otherwise grow the stack.
    func notifyDrained() {
        guard let upgrade, !upgrade.isDrainedCallScheduled else { return }
        upgrade.isDrainedCallScheduled = true
        loop.executeOnLoop {
            upgrade.isDrainedCallScheduled = false
            if self.isDrained { upgrade.endpoint?.handler.drained() }
        }
    }

    /// Closes the connection on behalf of the handler, which receives no further calls.
    func closeUpgraded() {
        guard machine.state == .upgraded else { return }
        upgrade?.endpoint = nil
        // The error is not used: the exchange ended with the upgrade.
        perform(machine.handle(.close), .failure(.cancelled))
    }

    /// Closes the connection and tells the handler; `error` is nil for an orderly close.
    func endUpgrade(_ error: TransportError?) {
        let handler = upgrade?.endpoint?.handler
        upgrade?.endpoint = nil
        // The error is not used: the exchange ended with the upgrade.
        perform(machine.handle(.broken), .failure(error ?? .cancelled))
        handler?.closed(error)
    }
}

extension HTTP1Connection: UpgradedChannel {}
