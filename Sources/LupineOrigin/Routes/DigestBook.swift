// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The nonces that were given out, and how often each was used. Any thread; of bounded size.
final class DigestBook: Sendable {
    /// What a nonce is worth.
    enum Verdict: Hashable {
        case good
        case stale
        case unknown
    }

    private struct Entry {
        var uses = 0
        var counts: Set<String> = []
        var isRetired = false
    }

    private static let most = 4_096
    private let entries = Lock<[String: Entry]>([:])

    /// A nonce that nobody has seen.
    func issue() -> String {
        let nonce = Hexadecimal.text((0..<16).map { _ in UInt8.random(in: 0...255) })
        entries.withLock { entries in
            if entries.count >= Self.most { entries.removeAll() }
            entries[nonce] = Entry()
        }
        return nonce
    }

    /// Looks a nonce up without using it: stale when it was retired or used `limit` times.
    func check(_ nonce: String, uses limit: Int?) -> Verdict {
        entries.withLock { entries in
            guard let entry = entries[nonce] else { return .unknown }
            return entry.isRetired || entry.uses >= limit ?? .max ? .stale : .good
        }
    }

    /// Uses a nonce; false when this count of it was used before: a replay (RFC 7616 section 5.5).
    func use(_ nonce: String, count: String?) -> Bool {
        entries.withLock { entries in
            guard var entry = entries[nonce] else { return false }
            entry.uses += 1
            let isNew = count.map { entry.counts.insert($0).inserted } ?? true
            entries[nonce] = entry
            return isNew
        }
    }

    /// Makes a nonce stale: the client was given another one.
    func retire(_ nonce: String) { entries.withLock { $0[nonce]?.isRetired = true } }
}
