// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// The issued nonces, 4,096 at capacity, and up to 4,096 uses of each. Any thread may use it.
final class NonceStore: Sendable {
    /// The validity of a nonce.
    enum Validity: Hashable {
        case valid
        case stale
        case unknown
    }

    private struct Entry {
        var useCount = 0
        /// The values of `nc` with which the nonce was used.
        var nonceCounts: Set<String> = []
        var isRetired = false

        /// Counts a use. Returns false for a replay.
        mutating func recordUse(count: String?) -> Bool {
            useCount += 1
            if useCount >= NonceStore.capacity { isRetired = true }
            guard let count else { return true }
            guard nonceCounts.count < NonceStore.capacity else { return false }
            return nonceCounts.insert(count).inserted
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
    func validity(of nonce: String, useLimit limit: Int?) -> Validity {
        entries.withLock { entries in
            guard let entry = entries[nonce] else { return .unknown }
            return entry.isRetired || entry.useCount >= limit ?? .max ? .stale : .valid
        }
    }

    /// Counts a use of a nonce. Returns false if the nonce is unknown or was already used with this `count`, which is a replay
    /// (RFC 7616 section 5.5). After the maximum number of uses a nonce is stale, so that a client cannot grow the store.
    func recordUse(of nonce: String, count: String?) -> Bool {
        entries.withLock { entries in entries[nonce]?.recordUse(count: count) ?? false }
    }

    /// Makes a nonce stale. Called when the client is given another one.
    func retire(_ nonce: String) { entries.withLock { $0[nonce]?.isRetired = true } }
}
