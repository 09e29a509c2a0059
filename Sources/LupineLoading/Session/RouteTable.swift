// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// The servers that a session sends to, found by how addresses spell them: to read an authority and to look for its proxy takes longer
/// than to find it again. Any thread.
final class RouteTable: Sendable {
    /// What is known of a server.
    struct Place: Sendable {
        let server: RouteServer
        /// The pool's key for it; nil where that takes more than the server: who judges it, or a proxy.
        let origin: Origin?
        /// What a request to the server sends that has no fields but the session's own.
        let ownFields: Fields?
    }

    /// With more servers than these the table begins anew.
    static let mostServers = 256
    /// One that is spelled with more octets is not kept.
    static let longestSpelling = 1_024

    /// By a number that is made of the spelling: of two that have the same, the later one is kept.
    private let places = Lock<[UInt64: Place]>([:])

    /// What is known of a server that is spelled like that.
    func place(spelled spelling: Span<UInt8>) -> Place? {
        let number = Self.number(of: spelling)
        let place = places.withLock { $0[number] }
        return place?.server.isSpelled(spelling) ?? false ? place : nil
    }

    /// Keeps it for addresses that spell the server as this one did. One that is not to be found again is not kept.
    func keep(_ place: Place) {
        let spelling = place.server.spelling
        if spelling.isEmpty || spelling.count > Self.longestSpelling { return }
        let number = Self.number(of: spelling.span)
        // What was kept goes away outside of the lock.
        _ = places.withLock { places -> ([UInt64: Place], Place?) in
            var dropped: [UInt64: Place] = [:]
            if places.count >= Self.mostServers { swap(&places, &dropped) }
            return (dropped, places.updateValue(place, forKey: number))
        }
    }

    /// FNV-1a. Whoever chooses addresses so that numbers are equal has servers read again, and nothing else.
    private static func number(of spelling: Span<UInt8>) -> UInt64 {
        var number: UInt64 = 0xCBF2_9CE4_8422_2325
        for place in spelling.indices { number = (number ^ UInt64(spelling[place])) &* 0x100_0000_01B3 }
        return number
    }
}
