// SPDX-License-Identifier: MIT

import LupineHTTP

/// The connection after HTTP: bytes from and to an `UpgradeHandler`.
extension HTTP1Connection {
    func beginUpgrade(_ bytes: Span<UInt8>) {
        guard let ended = current else { return }
        _ = machine.handle(.upgraded)
        current = nil
        clear()
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
        guard machine.state == .upgraded, !upgradeReads else { return }
        upgradeReads = true
        // In a turn of its own: the handler may be in the middle of `received`.
        yieldReading()
    }

    func sendUpgraded(_ bytes: [UInt8]) -> Int {
        guard machine.state == .upgraded else { return 0 }
        feed.append(bytes)
        write()
        return feed.waiting
    }

    /// In a step of its own: a handler that answers by sending more would otherwise grow the stack.
    func tellDrained() {
        guard !drainedIsDue else { return }
        drainedIsDue = true
        loop.executeOnLoop {
            self.drainedIsDue = false
            if !self.feed.hasOutput { self.upgrade?.handler.drained() }
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
