// SPDX-License-Identifier: MIT

internal import LupineHTTP2

/// The streams of a connection that may have content to send, sorted by urgency. Streams of the same urgency take turns.
struct SenderQueue {
    private var streams: [OriginStream] = []

    /// Adds a stream, after the streams of the same or a higher urgency. Has no effect if the stream is in the queue.
    mutating func add(_ stream: OriginStream) {
        guard !stream.isQueued else { return }
        stream.isQueued = true
        // A lower number is a higher urgency (RFC 9218 §4.1).
        let previous = streams.lastIndex { $0.urgency <= stream.urgency }
        streams.insert(stream, at: previous.map { $0 + 1 } ?? 0)
    }

    /// Removes and returns the first stream; nil if the queue is empty.
    mutating func popFirst() -> OriginStream? {
        guard !streams.isEmpty else { return nil }
        let stream = streams.removeFirst()
        stream.isQueued = false
        return stream
    }

    /// Changes the urgency of a stream, and its position if it is in the queue.
    mutating func setUrgency(_ urgency: Urgency, of stream: OriginStream) {
        stream.urgency = urgency
        guard stream.isQueued else { return }
        streams.removeAll { $0 === stream }
        stream.isQueued = false
        add(stream)
    }
}
