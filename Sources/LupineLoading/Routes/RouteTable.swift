// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// The servers that a session sends to, by their spelling in URLs: a look-up is faster than parsing an authority and finding
/// its proxy again. Any thread.
final class RouteTable: Sendable {
    /// What is known of a server.
    struct Place: Sendable {
        let server: RouteServer
        /// The pool's key; nil if the key depends on more than the server, that is on a proxy or on who verifies the server's
        /// certificate.
        let origin: Origin?
        /// The fields of a request to the server that has none but the session's own.
        let ownFields: Fields?
    }

    /// The table is emptied when it has this many servers.
    static let mostServers = 256
    /// A server with a longer spelling, in octets, is not kept.
    static let longestSpelling = 1_024

    /// Keyed by a hash of the spelling; of two servers with the same hash, the later one is kept.
    private let places = Lock<[UInt64: Place]>([:])

    /// What is known of the server with that spelling.
    func place(spelled spelling: Span<UInt8>) -> Place? {
        let number = Self.number(of: spelling)
        let place = places.withLock { $0[number] }
        return place?.server.isSpelled(spelling) ?? false ? place : nil
    }

    /// Keeps a server for URLs that spell it in the same way. A server without a spelling, or with a too long one, is not kept.
    func keep(_ place: Place) {
        let spelling = place.server.spelling
        if spelling.isEmpty || spelling.count > Self.longestSpelling { return }
        let number = Self.number(of: spelling.span)
        // Replaced entries are released outside of the lock.
        _ = places.withLock { places -> ([UInt64: Place], Place?) in
            var dropped: [UInt64: Place] = [:]
            if places.count >= Self.mostServers { swap(&places, &dropped) }
            return (dropped, places.updateValue(place, forKey: number))
        }
    }

    /// FNV-1a. An attacker who chooses URLs with equal hashes only causes servers to be parsed again.
    private static func number(of spelling: Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0xCBF2_9CE4_8422_2325
        for place in spelling.indices { number = (number ^ UInt64(spelling[place])) &* 0x100_0000_01B3 }
        return number
    }
}
