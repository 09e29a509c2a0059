// SPDX-License-Identifier: MIT

/// Streams that have something to send, first come, first served.
struct SenderQueue {
    private var streams: [HTTP2Stream] = []
    private var start = 0

    var isEmpty: Bool { start == streams.count }

    mutating func append(_ stream: HTTP2Stream) { streams.append(stream) }

    /// Takes the first, of which there has to be one.
    mutating func removeFirst() -> HTTP2Stream {
        let stream = streams[start]
        start += 1
        // Half of the array at most is what has gone.
        if 2 * start >= streams.count {
            streams.removeSubrange(..<start)
            start = 0
        }
        return stream
    }
}
