// SPDX-License-Identifier: MIT

import LupineTransport

/// The servers that a session sends to, found by how addresses spell them: to read an authority and to look for its proxy takes longer
/// than to find it again. Any thread.
final class RouteTable: Sendable {
    /// What is known of a server.
    struct Place: Sendable {
        let server: RouteServer
        /// The pool's key for it; nil where that takes more than the server: who judges it, or a proxy.
        let origin: Origin?
    }

    /// With more servers than these the table begins anew.
    static let mostServers = 256

    private let places = Lock<[String: Place]>([:])

    /// What is known of a server that is spelled like that.
    func place(spelled spelling: String) -> Place? { places.withLock { $0[spelling] } }

    /// Keeps it for addresses that spell the server as this one did. One that is not to be found again is not kept.
    func keep(_ place: Place) {
        let spelling = place.server.spelling
        if spelling.isEmpty { return }
        // What was kept goes away outside of the lock.
        _ = places.withLock { places -> [String: Place] in
            var dropped: [String: Place] = [:]
            if places.count >= Self.mostServers { swap(&places, &dropped) }
            places[spelling] = place
            return dropped
        }
    }
}
