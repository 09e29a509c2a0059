// SPDX-License-Identifier: MIT

/// Web sockets on connections that are there for other exchanges (RFC 8441).
extension PoolMachine {
    /// Lends a connection whose peer takes web sockets, if one is there and has room: nobody waits for one, and none is dialled.
    mutating func submitWebSocket(
        _ exchange: ExchangeID, to origin: Origin, at now: Instant, into actions: inout [PoolAction]
    ) {
        guard let key = knownKey(of: origin), let index = takingWebSockets(key, at: now) else {
            return actions.append(.fail(exchange, .noneTakesWebSockets))
        }
        lend(index, of: slots[Int(index)].key, to: exchange, at: now, into: &actions)
    }

    /// The last that came back of the connections of a key that can be lent to a web socket, or the one that it is a guest of. As
    /// many are looked at as for one of a certain loop.
    private func takingWebSockets(_ key: Int32, at now: Instant) -> Int32? {
        var index = keys[Int(key)].available.last
        var looks = Self.nearestLooks
        while index != LinkTable.none, looks > 0 {
            let slot = slots[Int(index)]
            if slot.takesWebSockets, !slot.isExpired(at: now) { return index }
            index = slotLinks.previous(before: index)
            looks -= 1
        }
        if let shared = sharedConnection(of: key, at: now), slots[Int(shared)].takesWebSockets {
            return shared
        }
        return nil
    }
}
