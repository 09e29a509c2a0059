// SPDX-License-Identifier: MIT

/// An event that a frame reader returns for its input.
package enum FrameEvent: Hashable, Sendable {
    /// All of the input was consumed, and the next event needs more.
    case needMore
    /// A DATA frame begins. Its payload, including padding, counts `flowControlled` octets for flow control.
    case dataBegan(StreamID, flowControlled: Int)
    /// Content of the current DATA frame, as a range of the input.
    case content(StreamID, Range<Int>)
    /// The DATA frame ended.
    case dataEnded(StreamID, endsStream: Bool)
    /// The complete header block of HEADERS and its CONTINUATION frames.
    case headers(StreamID, block: [UInt8], endsStream: Bool)
    /// The complete header block of PUSH_PROMISE and its CONTINUATION frames.
    case pushPromise(StreamID, promised: StreamID, block: [UInt8])
    /// A PRIORITY frame, whose signaling is deprecated (RFC 9113 §5.3.2).
    case priority(StreamID)
    /// RST_STREAM.
    case reset(StreamID, HTTP2ErrorCode)
    case settings([Setting])
    /// SETTINGS with the ACK flag.
    case settingsAcknowledged
    /// PING with its eight octets of opaque data.
    case ping(UInt64)
    /// PING with the ACK flag.
    case pingAcknowledged(UInt64)
    /// GOAWAY. The sender has not processed, and does not process, streams above `last`.
    case goAway(last: StreamID, HTTP2ErrorCode, debug: [UInt8])
    case windowUpdate(StreamID, increment: Int)
    /// The priority field value for a stream, as received (RFC 9218 §7.1).
    case priorityUpdate(StreamID, value: [UInt8])
    /// A frame that is ignored. It is reported so that a flood of such frames can be detected.
    case ignored(FrameType, StreamID)
    /// A stream error: a frame is invalid in a way that affects one stream only.
    case streamError(StreamID, HTTP2Error)
}
