// SPDX-License-Identifier: MIT

import LupineHTTP2

/// The streams of a connection that have not ended, by their identifiers.
struct OpenStreams {
    private var slots = StreamSlots()
    private var streams: [HTTP2Stream?] = []

    var count: Int { slots.count }
    var isEmpty: Bool { slots.count == 0 }

    /// All streams, in the order in which they began.
    var ordered: [HTTP2Stream] { slots.sorted.compactMap { self[$0] } }

    subscript(_ id: StreamID) -> HTTP2Stream? {
        guard let place = slots.index(of: id) else { return nil }
        return streams[place]
    }

    mutating func insert(_ stream: HTTP2Stream) {
        let place = slots.insert(stream.id)
        if place < streams.count { streams[place] = stream } else { streams.append(stream) }
    }

    mutating func remove(_ id: StreamID) {
        if let place = slots.remove(id) { streams[place] = nil }
    }
}
