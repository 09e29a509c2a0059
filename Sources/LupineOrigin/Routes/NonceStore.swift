// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// The nonces of digest authentication that the origin has issued, at most 4,096, with at most 4,096 uses of each. Any thread may
/// use it.
final class NonceStore: Sendable {
    /// The validity of a nonce.
    enum Validity: Hashable {
        case valid
        /// The origin has issued the nonce, but the client must use a new one.
        case stale
        /// The origin has not issued the nonce, or has dropped it.
        case unknown
    }

    /// The uses of one nonce.
    private struct Entry {
        var useCount = 0
        /// The values of the nonce count `nc` with which clients have used the nonce.
        var nonceCounts: Set<String> = []
        /// Whether the nonce is stale, whatever the number of its uses.
        var isRetired = false

        /// Counts a use with the nonce count `count`. Returns false for a replay, and when too many counts are recorded to tell.
        mutating func recordUse(count: String?) -> Bool {
            useCount += 1
            if useCount >= NonceStore.capacity { isRetired = true }
            // Without `qop`, credentials have no nonce count, and a replay cannot be detected.
            guard let count else { return true }
            guard nonceCounts.count < NonceStore.capacity else { return false }
            return nonceCounts.insert(count).inserted
        }
    }

    /// The maximum number of nonces, and of uses of each nonce.
    private static let capacity = 4_096
    /// The uses of the nonces, by nonce.
    private let entries = Lock<[String: Entry]>([:])

    /// Issues a new nonce. If the store is full, it drops all earlier nonces first.
    func issue() -> String {
        let nonce = Hexadecimal.lowercase((0..<16).map { _ in UInt8.random(in: 0...255) })
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[nonce] = Entry()
        }
        return nonce
    }

    /// Returns the validity of a nonce without counting a use. A nonce is stale if it is retired or has been used `limit`
    /// times; a nil `limit` allows any number.
    func validity(of nonce: String, useLimit limit: Int?) -> Validity {
        entries.withLock { entries in
            guard let entry = entries[nonce] else { return .unknown }
            let isUsedUp = entry.useCount >= limit ?? .max
            return entry.isRetired || isUsedUp ? .stale : .valid
        }
    }

    /// Counts a use of a nonce with the nonce count `count`. Returns false for a replay: a second use with the same `count`
    /// (RFC 7616 section 5.5). Also returns false if the nonce is unknown, or if too many counts are recorded to tell. After
    /// `capacity` uses a nonce is stale, which bounds the memory of its entry.
    func recordUse(of nonce: String, count: String?) -> Bool {
        entries.withLock { entries in entries[nonce]?.recordUse(count: count) ?? false }
    }

    /// Makes a nonce stale, when the origin has sent the client another one.
    func retire(_ nonce: String) { entries.withLock { $0[nonce]?.isRetired = true } }
}
