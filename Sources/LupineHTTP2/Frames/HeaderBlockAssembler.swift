// SPDX-License-Identifier: MIT

import LupineHTTP

/// Assembles header blocks from HEADERS or PUSH_PROMISE and CONTINUATION frames: RFC 9113 §4.3 and §6.10.
///
/// The octets of a block are limited, and so is the number of its frames, since empty frames cost work without adding octets.
struct HeaderBlockAssembler: Sendable {
    /// The frame that opened the block.
    enum Opening: Sendable {
        case headers(endsStream: Bool)
        case pushPromise(promised: StreamID)
    }

    private enum State: Sendable {
        case idle
        /// Inside a header block of the stream.
        case open(StreamID, Opening)
    }

    private var state = State.idle
    private var block: [UInt8] = []
    private var continuations = 0
    private var emptyContinuations = 0
    private let limits: FrameLimits

    init(limits: FrameLimits) { self.limits = limits }

    /// The stream whose block is open, if any: the next frame must be a CONTINUATION on it.
    var openStream: StreamID? {
        switch state {
        case .idle: nil
        case .open(let stream, _): stream
        }
    }

    /// Begins a block. Returns its event if the block is complete.
    mutating func begin(
        _ stream: StreamID, _ opening: Opening, _ fragment: Span<UInt8>, endsBlock: Bool
    ) throws(HTTP2Error) -> FrameEvent? {
        (block, continuations, emptyContinuations) = ([], 0, 0)
        state = .open(stream, opening)
        return try add(fragment, endsBlock: endsBlock)
    }

    /// Continues the open block. Returns its event when the block is complete.
    mutating func continueBlock(_ fragment: Span<UInt8>, endsBlock: Bool) throws(HTTP2Error) -> FrameEvent? {
        continuations &+= 1
        guard continuations <= limits.continuationFrames else {
            throw .limitExceeded(.continuationFrames, allowed: limits.continuationFrames)
        }
        if fragment.isEmpty {
            emptyContinuations &+= 1
            guard emptyContinuations <= limits.emptyContinuationFrames else {
                throw .limitExceeded(.emptyContinuationFrames, allowed: limits.emptyContinuationFrames)
            }
        }
        return try add(fragment, endsBlock: endsBlock)
    }

    /// Adds a fragment to the block. Returns the event of the block when it is complete.
    private mutating func add(_ fragment: Span<UInt8>, endsBlock: Bool) throws(HTTP2Error) -> FrameEvent? {
        guard fragment.count <= limits.headerBlockOctets &- block.count else {
            throw .limitExceeded(.headerBlockOctets, allowed: limits.headerBlockOctets)
        }
        block.append(fragment, fragment.indices)
        guard endsBlock, case .open(let stream, let opening) = state else { return nil }
        let completeBlock = block
        block = []
        state = .idle
        switch opening {
        case .headers(let endsStream): return .headers(stream, block: completeBlock, endsStream: endsStream)
        case .pushPromise(let promised):
            return .pushPromise(stream, promised: promised, block: completeBlock)
        }
    }
}
