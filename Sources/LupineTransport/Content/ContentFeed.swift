// SPDX-License-Identifier: MIT

import LupineHTTP

/// The progress of sending one request: framing that waits to be sent, and the content after it.
///
/// It records what is sent next and how much has been sent; the connection sends the bytes. HTTP/2 uses it for content only.
struct ContentFeed {
    enum State {
        /// No more content is to be sent; `output` may still contain framing.
        case done
        /// Bytes in memory; those before the index `from` have been sent.
        case bytes([UInt8], from: Int)
        /// The same for bytes that the transport does not own.
        case region(any OutgoingRegion, from: Int)
        /// A file, of which `remaining` bytes from `offset` on are still to be sent.
        case file(FileSource, offset: Int64, remaining: Int64)
        /// No content is available; the source must be asked.
        case stream(any ContentSource)
        /// The source has been asked and has not answered.
        case awaiting(any ContentSource)
        /// A piece from the source; the bytes before the index `from` have been sent.
        case piece([UInt8], from: Int, any ContentSource)
    }

    /// Framing to be sent before the content in `state`; after an upgrade, the bytes of the new protocol.
    var output: [UInt8] = []
    /// How many octets of `output` have been sent.
    var outputStart = 0
    /// The content that is sent next.
    var state = State.done
    /// The number of octets of content that have been sent.
    var contentOctetsSent: Int64 = 0

    /// Whether octets of `output` wait to be sent.
    var hasOutput: Bool { outputStart < output.count }

    /// The number of octets of `output` that wait to be sent.
    var waitingOctets: Int { output.count &- outputStart }

    /// Appends bytes to the output.
    mutating func append(_ bytes: [UInt8]) {
        // Removes the sent octets if there are many: `advance` does so only when none wait, which may never happen.
        if outputStart > Self.sentPrefixLimit, outputStart > output.count / 2 {
            output.removeFirst(outputStart)
            outputStart = 0
        }
        output += bytes
    }

    /// Records that `count` octets were sent: framing first, then content.
    mutating func advance(_ count: Int) {
        let framing = min(count, output.count &- outputStart)
        outputStart &+= framing
        if outputStart == output.count {
            output.removeAll(keepingCapacity: output.capacity <= Self.idleCapacity)
            outputStart = 0
        }
        let content = count &- framing
        guard content > 0 else { return }
        contentOctetsSent &+= Int64(content)
        switch state {
        case .bytes(let bytes, let from):
            state = from &+ content == bytes.count ? .done : .bytes(bytes, from: from &+ content)
        case .region(let region, let from):
            state = from &+ content == region.count ? .done : .region(region, from: from &+ content)
        case .piece(let bytes, let from, let source):
            state =
                from &+ content == bytes.count
                ? .stream(source) : .piece(bytes, from: from &+ content, source)
        case .done, .file, .stream, .awaiting:
            preconditionFailure("more was sent than there was")
        }
    }

    /// Resets the feed for the next request.
    mutating func clear() {
        if hasOutput { output = [] }
        outputStart = 0
        state = .done
        contentOctetsSent = 0
    }

    /// The capacity that an idle connection may keep for its next head.
    private static let idleCapacity = 512
    /// The number of sent octets that may stay in front of those that wait.
    private static let sentPrefixLimit = 64 * 1024
}
