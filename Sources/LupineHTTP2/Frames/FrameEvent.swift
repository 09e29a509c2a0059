// SPDX-License-Identifier: MIT

/// What a frame reader can say about the octets it was given.
package enum FrameEvent: Hashable, Sendable {
    /// Nothing yet: all of the input was taken, and more is needed.
    case needMore
    /// A DATA frame begins. So many octets of its payload, padding among them, count for flow control.
    case dataBegan(StreamID, flowControlled: Int)
    /// Content of the DATA frame at hand, at a range of the input.
    case content(StreamID, Range<Int>)
    /// The DATA frame is over.
    case dataEnded(StreamID, endsStream: Bool)
    /// A whole header block of HEADERS and its CONTINUATION frames.
    case headers(StreamID, block: [UInt8], endsStream: Bool)
    /// A whole header block of PUSH_PROMISE and its CONTINUATION frames.
    case pushPromise(StreamID, promised: StreamID, block: [UInt8])
    /// A PRIORITY frame, which means nothing any more (RFC 9113 §5.3.2).
    case priority(StreamID)
    case reset(StreamID, HTTP2ErrorCode)
    case settings([Setting])
    case settingsAcknowledged
    case ping(UInt64)
    case pingAcknowledged(UInt64)
    case goAway(last: StreamID, HTTP2ErrorCode, debug: [UInt8])
    case windowUpdate(StreamID, increment: Int)
    /// The priority field value for a stream, as it came (RFC 9218 §7.1).
    case priorityUpdate(StreamID, value: [UInt8])
    /// A frame that means nothing to this end. It is told of so that whoever sends very many can be noticed.
    case ignored(FrameType, StreamID)
    /// A frame is wrong in a way that concerns one stream only.
    case streamError(StreamID, HTTP2Error)
}
