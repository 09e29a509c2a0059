// SPDX-License-Identifier: MIT

import LupineHTTP

/// Where the sending of one request stands: framing that waits to go out, and the content behind it.
///
/// It knows what comes next and how much of it has gone; `HTTP1Connection` moves the bytes.
struct ContentFeed {
    enum State {
        /// All has been handed over to `output`, or nothing is left.
        case done
        case bytes([UInt8], from: Int)
        case region(any OutgoingRegion, from: Int)
        case file(FileSource, offset: Int64, remaining: Int64)
        /// Nothing is at hand; ask the source.
        case stream(any ContentSource)
        /// The source has been asked and has not answered.
        case awaiting(any ContentSource)
        /// A piece of the source's, partly sent.
        case piece([UInt8], from: Int, any ContentSource)
    }

    /// Framing that goes before what `state` holds.
    var output: [UInt8] = []
    /// How much of `output` has gone.
    var outputStart = 0
    var state = State.done
    /// Octets of content that have gone.
    var sent: Int64 = 0

    /// Whether framing waits.
    var hasOutput: Bool { outputStart < output.count }

    /// How many octets of framing wait.
    var waiting: Int { output.count &- outputStart }

    /// Adds to what waits.
    mutating func append(_ bytes: [UInt8]) {
        // Where something always waits, the end that makes room is never reached.
        if outputStart > Self.goneCapacity, outputStart > output.count / 2 {
            output.removeFirst(outputStart)
            outputStart = 0
        }
        output += bytes
    }

    /// Takes note that `count` octets went: first of the framing, then of the bytes at hand.
    mutating func advance(_ count: Int) {
        let framing = min(count, output.count &- outputStart)
        outputStart &+= framing
        if outputStart == output.count {
            output.removeAll(keepingCapacity: output.capacity <= Self.keptCapacity)
            outputStart = 0
        }
        let content = count &- framing
        guard content > 0 else { return }
        sent &+= Int64(content)
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

    /// Makes ready for the next request.
    mutating func clear() {
        if hasOutput { output = [] }
        outputStart = 0
        state = .done
        sent = 0
    }

    /// What an idle connection may keep for its next head.
    private static let keptCapacity = 512
    /// How much that has gone may stay in front of what waits.
    private static let goneCapacity = 64 * 1024
}
