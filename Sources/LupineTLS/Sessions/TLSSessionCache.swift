// SPDX-License-Identifier: MIT

/// Sessions for resumption, by a key that distinguishes connections that must not share one (host, port, trust policy).
///
/// A value without lock or clock: its owner has both. Bounded per key and in total; beyond that, the sessions of the least
/// recently stored key are dropped. `take` removes a single-use session; others stay until they expire.
package struct TLSSessionCache<Key: Hashable & Sendable>: Sendable {
    private struct KeyEntry {
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

    /// The most sessions per key.
    package let perKey: Int
    /// The most sessions in total.
    package let capacity: Int
    /// The number of sessions in the cache.
    package private(set) var count = 0
    private var entries: [Key: KeyEntry] = [:]
    private var puts: UInt64 = 0

    /// Creates an empty cache. The limit per key allows as many simultaneous new connections to resume with a ticket each;
    /// servers send two at a time by default.
    package init(perKey: Int = 32, capacity: Int = 512) {
        precondition(perKey > 0 && capacity > 0, "a cache without room is none")
        self.perKey = perKey
        self.capacity = capacity
    }

    /// Returns a session to offer, the newest that has not expired; nil if there is none.
    ///
    /// A session whose verdict has expired is not offered: its chain has expired or lacks current evidence, and only a full
    /// handshake shows the server's current chain.
    package mutating func take(for key: Key, now: UnixTime) -> TLSSession? {
        guard let place = entries.index(forKey: key) else { return nil }
        let taken = entries.values[place].take(now: now, &count)
        if entries.values[place].sessions.isEmpty { entries.remove(at: place) }
        return taken
    }

    /// Stores a session. A reusable session replaces all earlier ones, because it is the server's latest.
    package mutating func put(_ session: TLSSession, for key: Key) {
        puts &+= 1
        entries[key, default: KeyEntry(lastPut: puts)].put(session, at: puts, limit: perKey, &count)
        while count > capacity { evictOldest() }
    }

    /// Removes all sessions of a key.
    package mutating func removeAll(for key: Key) {
        count -= entries.removeValue(forKey: key)?.sessions.count ?? 0
    }

    private mutating func evictOldest() {
        guard let oldest = entries.min(by: { $0.value.lastPut < $1.value.lastPut })?.key else { return }
        if entries.count == 1 {
            entries[oldest]?.sessions.removeFirst()
            count -= 1
        } else {
            removeAll(for: oldest)
        }
    }
}
