// SPDX-License-Identifier: MIT

import LupineHTTP

/// Puts header blocks together from HEADERS or PUSH_PROMISE and CONTINUATION frames: RFC 9113 §4.3 and §6.10.
///
/// A block is limited by its octets and by its frames, since frames can be empty: neither memory nor work is for free.
struct HeaderBlockAssembler: Sendable {
    /// What the block belongs to.
    enum Opening: Sendable {
        case headers(endsStream: Bool)
        case pushPromise(promised: StreamID)
    }

    private enum State: Sendable {
        case idle
        /// In a block of that stream.
        case open(StreamID, Opening)
    }

    private var state = State.idle
    private var block: [UInt8] = []
    private var continuations = 0
    private var emptyContinuations = 0
    private let limits: FrameLimits

    init(limits: FrameLimits) { self.limits = limits }

    /// The stream whose block is open: no other frame than its CONTINUATION may come.
    var openStream: StreamID? {
        switch state {
        case .idle: nil
        case .open(let stream, _): stream
        }
    }

    /// Begins a block. The event, when it is whole.
    mutating func begin(
        _ stream: StreamID, _ opening: Opening, _ fragment: Span<UInt8>, endsBlock: Bool
    ) throws(HTTP2Error) -> FrameEvent? {
        (block, continuations, emptyContinuations) = ([], 0, 0)
        state = .open(stream, opening)
        return try add(fragment, endsBlock: endsBlock)
    }

    /// Goes on with the block that is open. The event, when it is whole.
    mutating func goOn(_ fragment: Span<UInt8>, endsBlock: Bool) throws(HTTP2Error) -> FrameEvent? {
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

    private mutating func add(_ fragment: Span<UInt8>, endsBlock: Bool) throws(HTTP2Error) -> FrameEvent? {
        guard fragment.count <= limits.headerBlockOctets &- block.count else {
            throw .limitExceeded(.headerBlockOctets, allowed: limits.headerBlockOctets)
        }
        block.append(fragment, fragment.indices)
        guard endsBlock, case .open(let stream, let opening) = state else { return nil }
        let whole = block
        block = []
        state = .idle
        switch opening {
        case .headers(let endsStream): return .headers(stream, block: whole, endsStream: endsStream)
        case .pushPromise(let promised):
            return .pushPromise(stream, promised: promised, block: whole)
        }
    }
}
