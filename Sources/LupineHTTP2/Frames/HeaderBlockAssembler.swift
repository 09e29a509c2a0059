// SPDX-License-Identifier: MIT

import LupineHTTP

/// Assembles header blocks from HEADERS or PUSH_PROMISE and CONTINUATION frames: RFC 9113 §4.3 and §6.10.
///
/// `FrameLimits` limits the octets of a block, and also the number of its frames, since empty frames cost work without adding
/// octets.
struct HeaderBlockAssembler: Sendable {
    /// The frame with which a block begins.
    enum OpeningFrame: Sendable {
        case headers(endsStream: Bool)
        case pushPromise(promised: StreamID)
    }

    private enum State: Sendable {
        /// No header block is open.
        case idle
        /// Inside a header block of the stream.
        case open(StreamID, OpeningFrame)
    }

    private var state = State.idle
    /// The octets of the open block so far.
    private var block: [UInt8] = []
    /// The number of CONTINUATION frames of the open block so far.
    private var continuationCount = 0
    private var emptyContinuationCount = 0
    private let limits: FrameLimits

    init(limits: FrameLimits) { self.limits = limits }

    /// The stream whose block is open, if any: the next frame must be a CONTINUATION on it.
    var openStream: StreamID? {
        switch state {
        case .idle: nil
        case .open(let stream, _): stream
        }
    }

    /// Begins a block with its first fragment. Returns the block's event; nil if the block needs more fragments.
    mutating func begin(
        _ stream: StreamID, _ frame: OpeningFrame, _ fragment: Span<UInt8>, endsBlock: Bool
    ) throws(HTTP2Error) -> FrameEvent? {
        (block, continuationCount, emptyContinuationCount) = ([], 0, 0)
        state = .open(stream, frame)
        return try add(fragment, endsBlock: endsBlock)
    }

    /// Continues the open block. Returns the block's event; nil if the block needs more fragments.
    mutating func continueBlock(_ fragment: Span<UInt8>, endsBlock: Bool) throws(HTTP2Error) -> FrameEvent? {
        continuationCount &+= 1
        guard continuationCount <= limits.continuationFrames else {
            throw .limitExceeded(.continuationFrames, allowed: limits.continuationFrames)
        }
        if fragment.isEmpty {
            emptyContinuationCount &+= 1
            guard emptyContinuationCount <= limits.emptyContinuationFrames else {
                throw .limitExceeded(.emptyContinuationFrames, allowed: limits.emptyContinuationFrames)
            }
        }
        return try add(fragment, endsBlock: endsBlock)
    }

    /// Adds a fragment to the block. Returns the block's event; nil if the block needs more fragments.
    private mutating func add(_ fragment: Span<UInt8>, endsBlock: Bool) throws(HTTP2Error) -> FrameEvent? {
        guard fragment.count <= limits.headerBlockOctets &- block.count else {
            throw .limitExceeded(.headerBlockOctets, allowed: limits.headerBlockOctets)
        }
        block.append(fragment, fragment.indices)
        guard endsBlock, case .open(let stream, let frame) = state else { return nil }
        let completeBlock = block
        block = []
        state = .idle
        switch frame {
        case .headers(let endsStream): return .headers(stream, block: completeBlock, endsStream: endsStream)
        case .pushPromise(let promised):
            return .pushPromise(stream, promised: promised, block: completeBlock)
        }
    }
}
