// SPDX-License-Identifier: MIT

/// Sessions to resume with, by whatever tells connections apart that may not share one (host, port, trust policy).
///
/// A value without lock or clock: its owner has both. Bounded per key and in all; what is beyond is forgotten, the least
/// recently put key first. A session for one use leaves with `take`, another one stays until it expires.
package struct TLSSessionCache<Key: Hashable & Sendable>: Sendable {
    private struct Shelf {
        var sessions: [TLSSession] = []
        var lastPut: UInt64

        mutating func take(now: UnixTime, _ count: inout Int) -> TLSSession? {
            func isOver(_ session: TLSSession) -> Bool {
                session.expires <= now || session.acceptedUntil.map { $0 <= now } ?? false
            }
            if sessions.contains(where: isOver) {
                count -= sessions.count
                sessions.removeAll(where: isOver)
                count += sessions.count
            }
            guard let newest = sessions.last else { return nil }
            if newest.isSingleUse {
                sessions.removeLast()
                count -= 1
            }
            return newest
        }

        mutating func put(_ session: TLSSession, at put: UInt64, limit: Int, _ count: inout Int) {
            lastPut = put
            count -= sessions.count
            if !session.isSingleUse { sessions.removeAll(keepingCapacity: true) }
            sessions.append(session)
            if sessions.count > limit { sessions.removeFirst() }
            count += sessions.count
        }
    }

    /// The most sessions under one key.
    package let perKey: Int
    /// The most sessions in all.
    package let capacity: Int
    /// How many are kept.
    package private(set) var count = 0
    private var shelves: [Key: Shelf] = [:]
    private var puts: UInt64 = 0

    /// An empty cache. As many tickets are kept under a key as connections may begin at once and each find one of its own;
    /// servers give two at a time by default.
    package init(perKey: Int = 32, capacity: Int = 512) {
        precondition(perKey > 0 && capacity > 0, "a cache without room is none")
        self.perKey = perKey
        self.capacity = capacity
    }

    /// A session to offer, the newest that has not expired; nil if there is none.
    ///
    /// One whose verdict has run out is not offered any more: the chain that it stands for is over, or is no longer vouched
    /// for, and only a full handshake shows what the server has in its place.
    package mutating func take(for key: Key, now: UnixTime) -> TLSSession? {
        guard let place = shelves.index(forKey: key) else { return nil }
        let taken = shelves.values[place].take(now: now, &count)
        if shelves.values[place].sessions.isEmpty { shelves.remove(at: place) }
        return taken
    }

    /// Keeps a session. One that may be used again takes the place of all before it: it is what the server gave last.
    package mutating func put(_ session: TLSSession, for key: Key) {
        puts &+= 1
        shelves[key, default: Shelf(lastPut: puts)].put(session, at: puts, limit: perKey, &count)
        while count > capacity { forgetOldest() }
    }

    /// Forgets every session of a key.
    package mutating func removeAll(for key: Key) {
        count -= shelves.removeValue(forKey: key)?.sessions.count ?? 0
    }

    private mutating func forgetOldest() {
        guard let oldest = shelves.min(by: { $0.value.lastPut < $1.value.lastPut })?.key else { return }
        if shelves.count == 1 {
            shelves[oldest]?.sessions.removeFirst()
            count -= 1
        } else {
            removeAll(for: oldest)
        }
    }
}
