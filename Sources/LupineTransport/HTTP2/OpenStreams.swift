// SPDX-License-Identifier: MIT

import LupineHTTP2

/// The streams of a connection that have not ended, by their identifiers.
struct OpenStreams<Stream: AnyObject> {
    /// The indices of the streams in `streams`, by identifier.
    private var slots = StreamSlots()
    /// The streams at their indices; nil at an index that is free.
    private var streams: [Stream?] = []

    var count: Int { slots.count }
    var isEmpty: Bool { slots.count == 0 }

    /// All streams, in the order in which they began.
    var ordered: [Stream] { slots.sorted.compactMap { self[$0] } }

    subscript(_ id: StreamID) -> Stream? {
        guard let index = slots.index(of: id) else { return nil }
        return streams[index]
    }

    mutating func insert(_ stream: Stream, as id: StreamID) {
        let index = slots.insert(id)
        if index < streams.count { streams[index] = stream } else { streams.append(stream) }
    }

    mutating func remove(_ id: StreamID) {
        if let index = slots.remove(id) { streams[index] = nil }
    }
}
