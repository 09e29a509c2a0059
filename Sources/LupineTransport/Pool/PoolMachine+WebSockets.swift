// SPDX-License-Identifier: MIT

/// WebSockets on connections that also carry other exchanges (RFC 8441).
extension PoolMachine {
    /// Leases an available connection whose peer accepts WebSockets; fails the exchange at once if there is none, without
    /// waiting or dialling.
    mutating func submitWebSocket(
        _ exchange: ExchangeID, to origin: Origin, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let key = knownKey(of: origin), let index = webSocketConnection(of: key, at: now) else {
            return actions.append(.fail(exchange, .noneAcceptsWebSockets))
        }
        lease(index, of: slots[Int(index)].key, to: exchange, at: now, into: &actions)
    }

    /// Returns the most recently returned of a key's available connections that accept WebSockets; otherwise the connection that
    /// the key is coalesced onto, if that accepts them. Examines at most `searchLimit` connections of the key.
    private func webSocketConnection(of key: Int32, at now: Instant) -> Int32? {
        var index = keys[Int(key)].available.last
        var stepsLeft = Self.searchLimit
        while index != LinkTable.none, stepsLeft > 0 {
            let slot = slots[Int(index)]
            if slot.acceptsWebSockets, !slot.isExpired(at: now) { return index }
            index = slotLinks.previous(before: index)
            stepsLeft -= 1
        }
        if let shared = coalescedConnection(of: key, at: now), slots[Int(shared)].acceptsWebSockets {
            return shared
        }
        return nil
    }
}
