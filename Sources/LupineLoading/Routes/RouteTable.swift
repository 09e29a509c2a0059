// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// Caches the servers that a session sends to, by their spelling in URLs: a look-up is faster than parsing the authority and
/// finding the proxy again. May be used on any thread.
final class RouteTable: Sendable {
    /// A server, with the results that requests to it share.
    struct Entry: Sendable {
        let server: RouteServer
        /// The key of the server's connections in the pool; nil if the key depends on more than the server: on a proxy, or on the
        /// judge of the server's certificate.
        let origin: Origin?
        /// The fields of a request to the server that has only the session's own fields; nil if they are not cached.
        let sessionFields: Fields?
    }

    /// The table is emptied when it has this many servers.
    static let maxServers = 256
    /// The most octets of a spelling; a server with a longer one is not kept.
    static let maxSpellingLength = 1_024

    /// Keyed by a hash of the spelling; of two servers with the same hash, the later one is kept.
    private let entries = Lock<[UInt64: Entry]>([:])

    /// Returns the entry of the server with this spelling; nil if there is none.
    func entry(spelled spelling: Span<UInt8>) -> Entry? {
        let hash = Self.hash(of: spelling)
        guard let entry = entries.withLock({ $0[hash] }), entry.server.hasSpelling(spelling) else {
            return nil
        }
        return entry
    }

    /// Keeps a server for URLs that spell it in the same way. A server without a spelling, or with a too long one, is not kept.
    func insert(_ entry: Entry) {
        let spelling = entry.server.spelling
        if spelling.isEmpty || spelling.count > Self.maxSpellingLength { return }
        let hash = Self.hash(of: spelling.span)
        // The removed entries are returned to be released outside of the lock.
        _ = entries.withLock { entries -> ([UInt64: Entry], Entry?) in
            var dropped: [UInt64: Entry] = [:]
            if entries.count >= Self.maxServers { swap(&entries, &dropped) }
            return (dropped, entries.updateValue(entry, forKey: hash))
        }
    }

    /// Returns the 64-bit FNV-1a hash. An attacker who chooses URLs with equal hashes only causes servers to be parsed again.
    private static func hash(of spelling: Span<UInt8>) -> UInt64 {
        let (offsetBasis, prime): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x100_0000_01B3)
        var hash = offsetBasis
        for index in spelling.indices { hash = (hash ^ UInt64(spelling[index])) &* prime }
        return hash
    }
}
