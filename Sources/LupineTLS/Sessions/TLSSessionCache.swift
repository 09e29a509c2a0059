// SPDX-License-Identifier: MIT

/// A cache of sessions to resume. Its key (host, port, trust policy) distinguishes connections that must not share a session.
///
/// A value without lock or clock, which its owner has. The number of sessions is limited for each key and in total. Above the
/// total limit, the cache drops the sessions of the key with the oldest `put`. `take` removes a single-use session; others stay
/// until they expire.
package struct TLSSessionCache<Key: Hashable & Sendable>: Sendable {
    /// The sessions of one key.
    private struct KeyEntry {
        /// The sessions in the order in which they were stored.
        var sessions: [TLSSession] = []
        /// The value of `putCount` at the last `put` for the key.
        var lastPut: UInt64

        /// Returns the newest session that has not expired; removes it if it is single-use. Updates the cache's `count`.
        mutating func take(now: UnixTime, _ count: inout Int) -> TLSSession? {
            func hasExpired(_ session: TLSSession) -> Bool {
                if session.expirationTime <= now { return true }
                // Nil: the verdict is not reused, so it cannot expire.
                guard let acceptedUntil = session.acceptedUntil else { return false }
                return acceptedUntil <= now
            }
            if sessions.contains(where: hasExpired) {
                // `count` is that of all keys: this key's number is subtracted before the change, and added again after it.
                count -= sessions.count
                sessions.removeAll(where: hasExpired)
                count += sessions.count
            }
            guard let newest = sessions.last else { return nil }
            if newest.isSingleUse {
                sessions.removeLast()
                count -= 1
            }
            return newest
        }

        /// Stores a session, and updates the cache's `count`.
        mutating func put(_ session: TLSSession, at putCount: UInt64, limit: Int, _ count: inout Int) {
            lastPut = putCount
            // The number of this key's sessions is subtracted before the change, and added again after it.
            count -= sessions.count
            if !session.isSingleUse { sessions.removeAll(keepingCapacity: true) }
            sessions.append(session)
            if sessions.count > limit { sessions.removeFirst() }
            count += sessions.count
        }
    }

    /// The most sessions per key.
    package let limitPerKey: Int
    /// The most sessions in total.
    package let capacity: Int
    /// The number of sessions in the cache.
    package private(set) var count = 0
    private var entries: [Key: KeyEntry] = [:]
    /// The number of calls of `put`, which serves as a clock for `KeyEntry.lastPut`.
    private var putCount: UInt64 = 0

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limitPerKey: The most sessions per key. As many connections can be opened at the same time with a single-use ticket
    ///     each. Servers send two tickets per connection by default.
    ///   - capacity: The most sessions in total.
    package init(limitPerKey: Int = 32, capacity: Int = 512) {
        precondition(limitPerKey > 0 && capacity > 0, "a cache without room is none")
        self.limitPerKey = limitPerKey
        self.capacity = capacity
    }

    /// Returns a session to offer, the newest that has not expired; nil if there is none.
    ///
    /// Drops sessions whose verdict has expired (`acceptedUntil`): the connection then needs a full handshake, in which the
    /// server sends its current chain.
    package mutating func take(for key: Key, now: UnixTime) -> TLSSession? {
        guard let index = entries.index(forKey: key) else { return nil }
        let session = entries.values[index].take(now: now, &count)
        if entries.values[index].sessions.isEmpty { entries.remove(at: index) }
        return session
    }

    /// Stores a session. A session that is not single-use replaces all earlier ones of the key, because the server prefers its
    /// latest.
    package mutating func put(_ session: TLSSession, for key: Key) {
        putCount &+= 1
        // `put` updates `count`, which belongs to the whole cache.
        entries[key, default: KeyEntry(lastPut: putCount)]
            .put(session, at: putCount, limit: limitPerKey, &count)
        while count > capacity { evictOldest() }
    }

    /// Removes all sessions of a key.
    package mutating func removeAll(for key: Key) {
        count -= entries.removeValue(forKey: key)?.sessions.count ?? 0
    }

    /// Drops the sessions of the key with the oldest `put`. If there is only one key, drops its oldest session.
    private mutating func evictOldest() {
        guard let oldestKey = entries.min(by: { $0.value.lastPut < $1.value.lastPut })?.key else { return }
        if entries.count == 1 {
            entries[oldestKey]?.sessions.removeFirst()
            count -= 1
        } else {
            removeAll(for: oldestKey)
        }
    }
}
