// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// The issued nonces, 4,096 at capacity, and up to 4,096 uses of each. Any thread may use it.
final class NonceStore: Sendable {
    /// The validity of a nonce.
    enum Verdict: Hashable {
        case good
        case stale
        case unknown
    }

    private struct Entry {
        var uses = 0
        /// The values of `nc` with which the nonce was used.
        var counts: Set<String> = []
        var isRetired = false

        /// Counts a use. Returns false for a replay.
        mutating func use(_ count: String?) -> Bool {
            uses += 1
            if uses >= NonceStore.capacity { isRetired = true }
            guard let count else { return true }
            guard counts.count < NonceStore.capacity else { return false }
            return counts.insert(count).inserted
        }
    }

    /// The maximum number of nonces, and of uses of each.
    private static let capacity = 4_096
    private let entries = Lock<[String: Entry]>([:])

    /// Issues a new nonce. When the store is full, all earlier nonces are forgotten.
    func issue() -> String {
        let nonce = Hexadecimal.lowercase((0..<16).map { _ in UInt8.random(in: 0...255) })
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[nonce] = Entry()
        }
        return nonce
    }

    /// Returns the validity of a nonce without using it. A nonce is stale if it was retired or has been used `limit` times.
    func check(_ nonce: String, uses limit: Int?) -> Verdict {
        entries.withLock { entries in
            guard let entry = entries[nonce] else { return .unknown }
            return entry.isRetired || entry.uses >= limit ?? .max ? .stale : .good
        }
    }

    /// Counts a use of a nonce. Returns false if the nonce is unknown or was already used with this `count`, which is a replay
    /// (RFC 7616 section 5.5). After the maximum number of uses a nonce is stale, so that a client cannot grow the store.
    func use(_ nonce: String, count: String?) -> Bool {
        entries.withLock { entries in entries[nonce]?.use(count) ?? false }
    }

    /// Makes a nonce stale. Called when the client is given another one.
    func retire(_ nonce: String) { entries.withLock { $0[nonce]?.isRetired = true } }
}
