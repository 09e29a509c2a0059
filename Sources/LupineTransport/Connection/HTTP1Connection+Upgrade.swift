// SPDX-License-Identifier: MIT

import LupineHTTP

/// The connection after HTTP: bytes from and to an `UpgradeHandler`.
extension HTTP1Connection {
    func beginUpgrade(_ bytes: Span<UInt8>) {
        guard let ended = current else { return }
        _ = machine.handle(.upgraded)
        current = nil
        clear()
        // Silence is nothing unusual from here on, and no deadline ends it.
        beginProbes()
        let connection = UpgradedConnection(self, on: loop)
        let handler = ended.exchange.sink.upgraded(connection)
        upgradeReads = true
        // It may have been closed by whoever was just given it.
        if machine.state == .upgraded { upgrade = (connection, handler) }
        var metrics = ended.metrics
        metrics.responseEnd = loop.now
        ended.exchange.end(.success(Fields()), metrics)
        if !bytes.isEmpty { handleUpgraded(bytes) }
        read()
    }

    func handleUpgraded(_ bytes: Span<UInt8>) {
        guard let upgrade else { return }
        switch upgrade.handler.received(bytes) {
        case .more: break
        case .pause: upgradeReads = false
        case .enough: closeUpgraded()
        }
    }

    func resumeUpgraded() {
        guard machine.state == .upgraded, !upgradeReads, upgradeEnd == nil else { return }
        upgradeReads = true
        // In a turn of its own: the handler may be in the middle of `received`.
        yieldReading()
    }

    func sendUpgraded(_ bytes: [UInt8]) -> Int {
        // What cannot go is not collected: the handler hears why once it has read what came before.
        guard machine.state == .upgraded, writeFailure == nil else { return 0 }
        feed.append(bytes)
        write()
        return channel.hasPendingOutput ? max(feed.waiting, 1) : feed.waiting
    }

    /// Whether nothing waits to be sent, neither here nor in the channel.
    private var isDrained: Bool { !feed.hasOutput && !channel.hasPendingOutput }

    /// After bytes have gone: tells the handler if they were the last.
    func tellIfDrained() {
        guard machine.state == .upgraded, isDrained else { return }
        if let end = upgradeEnd { return endSoon(end) }
        tellDrained()
    }

    /// The peer sends no more. It may still read: what waits for it goes first.
    func upgradedPeerClosed(_ error: TransportError?) {
        guard error == nil, !isDrained else { return endUpgrade(error) }
        upgradeReads = false
        upgradeEnd = UpgradeEnd(error: error)
        write()
    }

    /// In a step of its own: bytes may be in the middle of being sent.
    private func endSoon(_ end: UpgradeEnd) {
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop {
            if bound.value.isDrained, bound.value.machine.state == .upgraded {
                bound.value.endUpgrade(end.error)
            }
        }
    }

    /// In a step of its own: a handler that answers by sending more would otherwise grow the stack.
    func tellDrained() {
        guard !drainedIsDue else { return }
        drainedIsDue = true
        loop.executeOnLoop {
            self.drainedIsDue = false
            if self.isDrained { self.upgrade?.handler.drained() }
        }
    }

    func closeUpgraded() {
        guard machine.state == .upgraded else { return }
        upgrade = nil
        perform(machine.handle(.close), .failure(.cancelled))
    }

    func endUpgrade(_ error: TransportError?) {
        let handler = upgrade?.handler
        upgrade = nil
        perform(machine.handle(.broken), .failure(error ?? .cancelled))
        handler?.closed(error)
    }
}
