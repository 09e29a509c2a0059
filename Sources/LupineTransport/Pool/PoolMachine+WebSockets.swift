// SPDX-License-Identifier: MIT

/// WebSockets on connections that also carry other exchanges (RFC 8441).
extension PoolMachine {
    /// Leases an available connection whose peer accepts WebSockets; fails the exchange at once if there is none, without
    /// waiting or dialling.
    mutating func submitWebSocket(
        _ exchange: ExchangeID, to origin: Origin, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let key = knownKey(of: origin), let index = takingWebSockets(key, at: now) else {
            return actions.append(.fail(exchange, .noneTakesWebSockets))
        }
        lease(index, of: slots[Int(index)].key, to: exchange, at: now, into: &actions)
    }

    /// Returns the most recently returned of a key's available connections that accepts WebSockets, or the connection that the
    /// key is coalesced onto. Examines at most `searchLimit` connections.
    private func takingWebSockets(_ key: Int32, at now: Instant) -> Int32? {
        var index = keys[Int(key)].available.last
        var left = Self.searchLimit
        while index != LinkTable.none, left > 0 {
            let slot = slots[Int(index)]
            if slot.takesWebSockets, !slot.isExpired(at: now) { return index }
            index = slotLinks.previous(before: index)
            left -= 1
        }
        if let shared = coalescedConnection(of: key, at: now), slots[Int(shared)].takesWebSockets {
            return shared
        }
        return nil
    }
}
