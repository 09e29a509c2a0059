// SPDX-License-Identifier: MIT

import LupineHTTP

/// The connection after HTTP: bytes from and to an `UpgradeHandler`.
extension HTTP1Connection {
    /// Where a connection stands once it is upgraded.
    final class Upgrade {
        /// Both sides of it, until it ends.
        var parties: (connection: UpgradedConnection, handler: any UpgradeHandler)?
        /// Whether the handler takes bytes now.
        var takesBytes = true
        /// The peer says no more: the connection ends so once what waits has gone.
        var end: End?
        /// The handler is about to hear that all has gone.
        var drainedIsDue = false

        /// How it is to end; nil is an end in order.
        struct End { let error: TransportError? }
    }

    func beginUpgrade(_ bytes: Span<UInt8>) {
        guard let ended = current else { return }
        _ = machine.handle(.upgraded)
        current = nil
        clear()
        let upgrade = Upgrade()
        self.upgrade = upgrade
        // Silence is nothing unusual from here on, and no deadline ends it.
        beginProbes()
        let connection = UpgradedConnection(self, on: loop)
        let handler = ended.exchange.sink.upgraded(connection)
        upgrade.takesBytes = true
        // It may have been closed by whoever was just given it.
        if machine.state == .upgraded { upgrade.parties = (connection, handler) }
        var metrics = ended.metrics
        metrics.responseEnd = loop.now
        ended.exchange.end(.success(Fields()), metrics)
        if !bytes.isEmpty { handleUpgraded(bytes) }
        read()
    }

    func handleUpgraded(_ bytes: Span<UInt8>) {
        guard let upgrade, let parties = upgrade.parties else { return }
        switch parties.handler.received(bytes) {
        case .more: break
        case .pause: upgrade.takesBytes = false
        case .enough: closeUpgraded()
        }
    }

    func resumeUpgraded() {
        guard machine.state == .upgraded, let upgrade, !upgrade.takesBytes, upgrade.end == nil else { return }
        upgrade.takesBytes = true
        // In a turn of its own: the handler may be in the middle of `received`.
        yieldReading()
    }

    func sendUpgraded(_ bytes: [UInt8]) -> Int? {
        // What cannot go is not collected: the handler hears why once it has read what came before.
        guard machine.state == .upgraded, writeFailure == nil else { return nil }
        feed.append(bytes)
        write()
        guard machine.state == .upgraded, writeFailure == nil else { return nil }
        return channel.hasPendingOutput ? max(feed.waiting, 1) : feed.waiting
    }

    /// Whether nothing waits to be sent, neither here nor in the channel.
    private var isDrained: Bool { !feed.hasOutput && !channel.hasPendingOutput }

    /// After bytes have gone: tells the handler if they were the last.
    func tellIfDrained() {
        guard machine.state == .upgraded, isDrained else { return }
        if let end = upgrade?.end { return endSoon(end) }
        tellDrained()
    }

    /// The peer sends no more. It may still read: what waits for it goes first.
    func upgradedPeerClosed(_ error: TransportError?) {
        guard error == nil, !isDrained else { return endUpgrade(error) }
        upgrade?.takesBytes = false
        upgrade?.end = Upgrade.End(error: error)
        write()
    }

    /// In a step of its own: bytes may be in the middle of being sent.
    private func endSoon(_ end: Upgrade.End) {
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            if bound.value.isDrained, bound.value.machine.state == .upgraded {
                bound.value.endUpgrade(end.error)
            }
        }
    }

    /// In a step of its own: a handler that answers by sending more would otherwise grow the stack.
    func tellDrained() {
        guard let upgrade, !upgrade.drainedIsDue else { return }
        upgrade.drainedIsDue = true
        loop.executeOnLoop {
            upgrade.drainedIsDue = false
            if self.isDrained { upgrade.parties?.handler.drained() }
        }
    }

    func closeUpgraded() {
        guard machine.state == .upgraded else { return }
        upgrade?.parties = nil
        perform(machine.handle(.close), .failure(.cancelled))
    }

    func endUpgrade(_ error: TransportError?) {
        let handler = upgrade?.parties?.handler
        upgrade?.parties = nil
        perform(machine.handle(.broken), .failure(error ?? .cancelled))
        handler?.closed(error)
    }
}
