// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// Caches the servers to which a session sends requests, by their spelling in URLs: the text of a URL up to the end of the
/// authority. A look-up is faster than parsing the authority and finding the proxy again. May be used on any thread.
final class RouteTable: Sendable {
    /// A server, with values that are the same for all requests to it.
    final class Entry: Sendable {
        let server: RouteServer
        /// The key of the server's connections in the pool. Nil if the key also depends on a proxy, or on who decides whether the
        /// server is trusted.
        let origin: Origin?
        /// All fields of a request to the server for which the program has set no fields; nil if they are not cached.
        let sessionFields: Fields?

        init(server: RouteServer, origin: Origin?, sessionFields: Fields?) {
            self.server = server
            self.origin = origin
            self.sessionFields = sessionFields
        }
    }

    /// The maximum number of servers. When the table is full, a new server replaces all others.
    static let maxServers = 256
    /// The maximum length of a spelling in octets. A server with a longer one is not cached.
    static let maxSpellingLength = 1_024

    /// The entries by the hash of their spelling. Of two servers with the same hash, only the later one is cached.
    private let entries = Lock<[UInt64: Entry]>([:])

    /// Returns the entry of the server with this spelling; nil if there is none.
    func entry(spelled spelling: Span<UInt8>) -> Entry? {
        let hash = Self.hash(of: spelling)
        guard let entry = entries.withLock({ $0[hash] }), entry.server.hasSpelling(spelling) else {
            return nil
        }
        return entry
    }

    /// Adds a server, for URLs that spell it in the same way. Does nothing if the server has no spelling or a too long one.
    func insert(_ entry: Entry) {
        let spelling = entry.server.spelling
        if spelling.isEmpty || spelling.count > Self.maxSpellingLength { return }
        let hash = Self.hash(of: spelling.span)
        // The closure returns the removed entries, so that they are released outside of the lock.
        _ = entries.withLock { entries -> (removed: [UInt64: Entry], replaced: Entry?) in
            var removed: [UInt64: Entry] = [:]
            if entries.count >= Self.maxServers { swap(&entries, &removed) }
            return (removed, entries.updateValue(entry, forKey: hash))
        }
    }

    /// Returns the 64-bit FNV-1a hash of the spelling. The hash need not withstand attacks: URLs with equal hashes only cause
    /// their servers to be parsed again.
    private static func hash(of spelling: Span<UInt8>) -> UInt64 {
        let (offsetBasis, prime): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x100_0000_01B3)
        var hash = offsetBasis
        for index in spelling.indices { hash = (hash ^ UInt64(spelling[index])) &* prime }
        return hash
    }
}
