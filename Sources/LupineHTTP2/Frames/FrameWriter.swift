// SPDX-License-Identifier: MIT

import LupineHTTP

/// Writes frames: RFC 9113 §4.1 and §6. It writes neither padding nor the priority fields of HEADERS.
///
/// It splits header blocks into frames. For all other frames, the caller keeps to the peer's SETTINGS_MAX_FRAME_SIZE.
package enum FrameWriter {
    /// Writes a frame's header.
    package static func header(
        _ type: FrameType, length: Int, flags: FrameFlags = [], _ stream: StreamID, into output: inout [UInt8]
    ) {
        precondition(length >= 0 && length <= 0xFF_FFFF, "a frame has up to 2^24-1 octets, not \(length)")
        let lengthTypeFlags: InlineArray<5, UInt8> = [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length), type.rawValue, flags.rawValue,
        ]
        for index in lengthTypeFlags.indices { output.append(lengthTypeFlags[index]) }
        append(stream.rawValue, to: &output)
    }

    /// Writes the header of a DATA frame; the caller then sends the `length` octets of content itself.
    package static func data(
        _ stream: StreamID, length: Int, endsStream: Bool, into output: inout [UInt8]
    ) {
        header(.data, length: length, flags: endsStream ? .endStream : [], stream, into: &output)
    }

    /// Writes a header block: HEADERS, and CONTINUATION frames for octets that do not fit into it.
    package static func headers(
        _ stream: StreamID, block: Span<UInt8>, endsStream: Bool, maximumFrameSize: Int,
        into output: inout [UInt8]
    ) {
        let firstCount = min(block.count, maximumFrameSize)
        var flags: FrameFlags = endsStream ? .endStream : []
        if firstCount == block.count { flags.insert(.endHeaders) }
        header(.headers, length: firstCount, flags: flags, stream, into: &output)
        output.append(block, 0..<firstCount)
        writeContinuations(stream, block, from: firstCount, maximumFrameSize, into: &output)
    }

    /// Writes the header block of a promised request as PUSH_PROMISE and CONTINUATION frames.
    package static func pushPromise(
        _ stream: StreamID, promised: StreamID, block: Span<UInt8>, maximumFrameSize: Int,
        into output: inout [UInt8]
    ) {
        // The promised stream identifier takes four octets of the frame.
        let firstCount = min(block.count, maximumFrameSize &- 4)
        let flags: FrameFlags = firstCount == block.count ? .endHeaders : []
        header(.pushPromise, length: firstCount &+ 4, flags: flags, stream, into: &output)
        append(promised.rawValue, to: &output)
        output.append(block, 0..<firstCount)
        writeContinuations(stream, block, from: firstCount, maximumFrameSize, into: &output)
    }

    /// Writes the octets of a block from `start` on as CONTINUATION frames.
    private static func writeContinuations(
        _ stream: StreamID, _ block: Span<UInt8>, from start: Int, _ maximumFrameSize: Int,
        into output: inout [UInt8]
    ) {
        var start = start
        while start < block.count {
            let end = min(block.count, start &+ maximumFrameSize)
            let flags: FrameFlags = end == block.count ? .endHeaders : []
            header(.continuation, length: end &- start, flags: flags, stream, into: &output)
            output.append(block, start..<end)
            start = end
        }
    }

    /// Writes RST_STREAM, which ends a stream.
    package static func reset(_ stream: StreamID, _ code: HTTP2ErrorCode, into output: inout [UInt8]) {
        header(.rstStream, length: 4, stream, into: &output)
        append(code.rawValue, to: &output)
    }

    /// Writes SETTINGS.
    package static func settings(_ settings: [Setting], into output: inout [UInt8]) {
        header(.settings, length: settings.count &* Setting.octetCount, .connection, into: &output)
        for setting in settings {
            output.append(UInt8(truncatingIfNeeded: setting.identifier.rawValue >> 8))
            output.append(UInt8(truncatingIfNeeded: setting.identifier.rawValue))
            append(setting.value, to: &output)
        }
    }

    /// Writes the acknowledgement of the peer's SETTINGS.
    package static func settingsAcknowledgement(into output: inout [UInt8]) {
        header(.settings, length: 0, flags: .ack, .connection, into: &output)
    }

    /// Writes a PING or its acknowledgement; `octets` is the opaque data.
    package static func ping(_ octets: UInt64, isAcknowledgement: Bool, into output: inout [UInt8]) {
        header(.ping, length: 8, flags: isAcknowledgement ? .ack : [], .connection, into: &output)
        append(UInt32(truncatingIfNeeded: octets >> 32), to: &output)
        append(UInt32(truncatingIfNeeded: octets), to: &output)
    }

    /// Writes GOAWAY: this endpoint has processed, or may still process, the peer's streams up to `last`.
    package static func goAway(
        last: StreamID, _ code: HTTP2ErrorCode, debug: Span<UInt8> = Span(), into output: inout [UInt8]
    ) {
        header(.goAway, length: 8 &+ debug.count, .connection, into: &output)
        append(last.rawValue, to: &output)
        append(code.rawValue, to: &output)
        output.append(debug, debug.indices)
    }

    /// Writes WINDOW_UPDATE; `increment` is in 1...2^31-1.
    package static func windowUpdate(_ stream: StreamID, increment: Int, into output: inout [UInt8]) {
        precondition((1...FlowWindow.largest).contains(increment), "no window grows by \(increment)")
        header(.windowUpdate, length: 4, stream, into: &output)
        append(UInt32(truncatingIfNeeded: increment), to: &output)
    }

    /// Writes PRIORITY_UPDATE, which tells the server the priority of a stream (RFC 9218 §7.1).
    package static func priorityUpdate(
        _ stream: StreamID, value: Span<UInt8>, into output: inout [UInt8]
    ) {
        header(.priorityUpdate, length: 4 &+ value.count, .connection, into: &output)
        append(stream.rawValue, to: &output)
        output.append(value, value.indices)
    }

    /// Appends a number in network byte order.
    private static func append(_ number: UInt32, to output: inout [UInt8]) {
        output.append(UInt8(truncatingIfNeeded: number >> 24))
        output.append(UInt8(truncatingIfNeeded: number >> 16))
        output.append(UInt8(truncatingIfNeeded: number >> 8))
        output.append(UInt8(truncatingIfNeeded: number))
    }
}
