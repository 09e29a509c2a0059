// SPDX-License-Identifier: MIT

/// WebSockets on connections that also carry other exchanges (RFC 8441).
extension PoolMachine {
    /// Leases an available connection whose peer accepts WebSockets. If there is none, fails the exchange at once: it neither
    /// waits nor starts a dial.
    mutating func submitWebSocket(
        _ exchange: ExchangeID, to origin: Origin, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let key = knownKey(of: origin), let index = webSocketConnection(of: key, at: now) else {
            return actions.append(.fail(exchange, .noneAcceptsWebSockets))
        }
        lease(index, of: slots[Int(index)].key, to: exchange, at: now, into: &actions)
    }

    /// Returns the connection of a key that accepts WebSockets and became available last. If there is none, returns the
    /// connection that the key is coalesced onto, if that accepts WebSockets. Examines at most `searchLimit` connections of the
    /// key.
    private func webSocketConnection(of key: Int32, at now: Instant) -> Int32? {
        var index = keys[Int(key)].available.last
        var remainingChecks = Self.searchLimit
        while index != LinkTable.none, remainingChecks > 0 {
            let slot = slots[Int(index)]
            if slot.acceptsWebSockets, !slot.isExpired(at: now) { return index }
            index = slotLinks.previous(before: index)
            remainingChecks -= 1
        }
        if let shared = coalescedConnection(of: key, at: now), slots[Int(shared)].acceptsWebSockets {
            return shared
        }
        return nil
    }
}
