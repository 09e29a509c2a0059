// SPDX-License-Identifier: MIT

import LupineHTTP

/// Parses one direction of an HTTP/2 connection: consumes octets in pieces of any size, and returns frames.
///
/// It does no I/O. The content of DATA is never copied: the reader returns it as ranges of the input. It returns other frames as
/// a whole. `FrameLimits` and the largest frame that this endpoint allows limit the octets that it buffers for them. The reader
/// checks each frame by itself, and the order of frames within a header block. Its owner decides whether the state of the stream
/// or connection allows a frame. After an error, each further call throws the same error.
package struct FrameReader: Sendable {
    /// The position between two octets of the connection.
    private enum Position {
        /// In the client's preface, after `offset` octets.
        case preface(offset: Int)
        /// Before or in the header of a frame.
        case header
        /// In a payload of which `remaining` octets are missing; `buffered` holds the others.
        case payload(FrameHeader, remaining: Int)
        /// Before the Pad Length octet of a DATA frame.
        case padLength(FrameHeader)
        /// In the content of a DATA frame.
        case content(FrameHeader, remaining: Int, padding: Int)
        /// In the padding of a DATA frame.
        case padding(FrameHeader, remaining: Int)
    }

    /// The connection preface, which a client sends first (RFC 9113 §3.4).
    package static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The longest payload that the peer may send: SETTINGS_MAX_FRAME_SIZE. The owner reduces it when the peer has acknowledged
    /// the smaller value.
    package var maximumFrameSize = 16_384
    /// Whether the server may push. The owner sets it to false to refuse PUSH_PROMISE.
    package var allowsPush = true

    /// The role of this endpoint, which receives the frames.
    private let role: HTTP2Role
    private let limits: FrameLimits
    private var position: Position
    private var headerParser = FrameHeaderParser()
    private var assembler: HeaderBlockAssembler
    /// The octets of the current frame's payload that were received in earlier pieces of input.
    private var buffered: [UInt8] = []
    /// Whether no frame has begun.
    private var isFirstFrame = true
    /// The error that an earlier call has thrown; nil if there was none.
    private var failure: HTTP2Error?

    /// Creates a reader for the octets that an endpoint with this role receives on a new connection.
    package init(_ role: HTTP2Role, limits: FrameLimits = FrameLimits()) {
        self.role = role
        self.limits = limits
        assembler = HeaderBlockAssembler(limits: limits)
        position = role == .server ? .preface(offset: 0) : .header
    }

    /// Whether the input so far ends at the end of a frame and header block: a close of the connection then truncates nothing.
    package var isBetweenFrames: Bool {
        guard case .header = position else { return false }
        return headerParser.isAtStart && assembler.openStream == nil
    }

    /// Consumes the octets of the next event from `input`. The caller repeats this with the remaining input until the event is
    /// `.needMore`, which consumes all of it.
    package mutating func next(
        _ input: Span<UInt8>
    ) throws(HTTP2Error) -> (event: FrameEvent, consumed: Int) {
        if let failure { throw failure }
        do throws(HTTP2Error) {
            var index = 0
            while true {
                if let event = try advance(input, &index) { return (event, index) }
                if index == input.count, needsInput { return (.needMore, index) }
            }
        } catch {
            failure = error
            buffered = []
            throw error
        }
    }

    /// Whether `advance` needs input at this position. At the end of a payload it needs none.
    private var needsInput: Bool {
        switch position {
        case .preface, .header, .padLength: true
        case .payload(_, let remaining), .padding(_, let remaining): remaining > 0
        case .content(_, let remaining, _): remaining > 0
        }
    }

    /// Consumes octets up to the next change of `position`. Returns the event that this causes, if any.
    private mutating func advance(
        _ input: Span<UInt8>, _ index: inout Int
    ) throws(HTTP2Error) -> FrameEvent? {
        switch position {
        case .preface(let offset):
            guard index < input.count else { return nil }
            let octet = input[index]
            guard octet == Self.clientPreface[offset] else {
                throw .invalidPreface(octet: octet, offset: offset)
            }
            index &+= 1
            let isComplete = offset &+ 1 == Self.clientPreface.count
            position = isComplete ? .header : .preface(offset: offset &+ 1)
            return nil
        case .header:
            // A header that the input contains completely is read at once. `headerParser` assembles one that is split between two
            // pieces of input.
            if headerParser.isAtStart, let header = FrameHeader(input, at: index) {
                index &+= FrameHeader.count
                return try beginFrame(header)
            }
            while index < input.count {
                let octet = input[index]
                index &+= 1
                if let header = headerParser.consume(octet) { return try beginFrame(header) }
            }
            return nil
        case .payload(let header, let remaining):
            return try consumePayload(header, remaining, input, &index)
        case .padLength(let header):
            guard index < input.count else { return nil }
            let padding = Int(input[index])
            index &+= 1
            // The payload without the Pad Length octet.
            let room = header.length &- 1
            guard padding <= room else {
                throw .paddingTooLong(.data, padding: padding, room: room)
            }
            position = .content(header, remaining: room &- padding, padding: padding)
            return nil
        case .content(let header, let remaining, let padding):
            let count = min(remaining, input.count &- index)
            let start = index
            index &+= count
            position =
                count == remaining
                ? .padding(header, remaining: padding)
                : .content(header, remaining: remaining &- count, padding: padding)
            return count > 0 ? .content(header.stream, start..<index) : nil
        case .padding(let header, let remaining):
            let count = min(remaining, input.count &- index)
            index &+= count
            guard count == remaining else {
                position = .padding(header, remaining: remaining &- count)
                return nil
            }
            position = .header
            return .dataEnded(header.stream, endsStream: header.flags.contains(.endStream))
        }
    }

    // MARK: Frame headers

    /// Checks a frame's header and begins its payload. Returns an event only for DATA.
    private mutating func beginFrame(_ header: FrameHeader) throws(HTTP2Error) -> FrameEvent? {
        try requireOrder(header)
        guard header.length <= maximumFrameSize else {
            throw .frameTooLarge(header.type, length: header.length, allowed: maximumFrameSize)
        }
        try FrameRule.validate(header)
        try requireAllowedType(header)
        guard header.type == .data else {
            position = .payload(header, remaining: header.length)
            return nil
        }
        position =
            header.flags.contains(.padded)
            ? .padLength(header) : .content(header, remaining: header.length, padding: 0)
        return .dataBegan(header.stream, flowControlled: header.length)
    }

    /// Throws unless the first frame is SETTINGS, and a header block is followed only by its CONTINUATION frames.
    private mutating func requireOrder(_ header: FrameHeader) throws(HTTP2Error) {
        if isFirstFrame {
            guard header.type == .settings, !header.flags.contains(.ack) else {
                throw .settingsExpected(header.type)
            }
            isFirstFrame = false
        }
        if let openStream = assembler.openStream {
            guard header.type == .continuation, header.stream == openStream else {
                throw .headerBlockInterrupted(openStream, by: header.type, on: header.stream)
            }
        } else if header.type == .continuation {
            throw .unexpectedContinuation(header.stream)
        }
    }

    /// Throws if this endpoint may not receive a frame of this type, or if a SETTINGS frame has too many settings.
    private func requireAllowedType(_ header: FrameHeader) throws(HTTP2Error) {
        switch header.type {
        case .pushPromise where role == .server || !allowsPush: throw .pushNotAllowed
        case .priorityUpdate where role == .client: throw .priorityUpdateFromServer
        case .settings where header.length / Setting.octetCount > limits.settingsCount:
            throw .limitExceeded(.settingsCount, allowed: limits.settingsCount)
        default: return
        }
    }

    /// Returns how many octets of a frame's payload are needed to parse it; further ones are dropped.
    private func bufferedLength(_ header: FrameHeader) -> Int {
        switch header.type {
        case .headers, .pushPromise, .continuation, .settings: header.length
        case .rstStream, .ping, .windowUpdate: header.length
        // Eight octets, the last stream and the error code, precede the debug data.
        case .goAway: 8 &+ min(header.length &- 8, max(limits.debugOctets, 0))
        // Four octets, the prioritized stream, precede the priority field value.
        case .priorityUpdate: 4 &+ min(header.length &- 4, max(limits.priorityOctets, 0))
        // PRIORITY and unknown types are ignored.
        default: 0
        }
    }

    // MARK: Payloads

    /// Consumes octets of a payload. A payload that the input contains completely is parsed without copying it.
    private mutating func consumePayload(
        _ header: FrameHeader, _ remaining: Int, _ input: Span<UInt8>, _ index: inout Int
    ) throws(HTTP2Error) -> FrameEvent? {
        let count = min(remaining, input.count &- index)
        let start = index
        index &+= count
        let bufferedCount = bufferedLength(header)
        if count == header.length {
            position = .header
            return try completeFrame(header, input.extracting(start..<(start &+ bufferedCount)))
        }
        let room = bufferedCount &- buffered.count
        buffered.append(input, start..<(start &+ min(count, room)))
        guard count == remaining else {
            position = .payload(header, remaining: remaining &- count)
            return nil
        }
        position = .header
        let payload = buffered
        buffered = []
        return try completeFrame(header, payload.span)
    }

    /// Returns the event of a complete frame other than DATA.
    private mutating func completeFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>
    ) throws(HTTP2Error) -> FrameEvent? {
        let stream = header.stream
        switch header.type {
        case .headers:
            let endsStream = header.flags.contains(.endStream)
            return try assembler.begin(
                stream, .headers(endsStream: endsStream),
                payload.extracting(Self.fragmentRange(header, payload)),
                endsBlock: header.flags.contains(.endHeaders))
        case .pushPromise:
            // The promised stream identifier follows the Pad Length octet, if there is one.
            let promised = StreamID(payload.number(at: header.padLengthCount))
            guard promised.isServerInitiated else { throw .invalidPromisedStream(promised) }
            return try assembler.begin(
                stream, .pushPromise(promised: promised),
                payload.extracting(Self.fragmentRange(header, payload)),
                endsBlock: header.flags.contains(.endHeaders))
        case .continuation:
            return try assembler.continueBlock(payload, endsBlock: header.flags.contains(.endHeaders))
        case .priority:
            // The five octets of the payload are ignored. Any other length is a stream error (§6.3).
            return header.length == 5
                ? .priority(stream)
                : .streamError(stream, .wrongLength(.priority, length: header.length))
        case .rstStream:
            return .reset(stream, HTTP2ErrorCode(rawValue: payload.number(at: 0)))
        case .settings:
            return header.flags.contains(.ack) ? .settingsAcknowledged : .settings(Self.settings(payload))
        case .ping:
            let octets = UInt64(payload.number(at: 0)) << 32 | UInt64(payload.number(at: 4))
            return header.flags.contains(.ack) ? .pingAcknowledged(octets) : .ping(octets)
        case .goAway:
            return .goAway(
                last: StreamID(payload.number(at: 0)), HTTP2ErrorCode(rawValue: payload.number(at: 4)),
                debug: payload.octets(from: 8))
        case .windowUpdate:
            // The highest bit is reserved and ignored.
            let increment = Int(payload.number(at: 0) & 0x7FFF_FFFF)
            if increment > 0 { return .windowUpdate(stream, increment: increment) }
            guard !stream.isConnection else { throw .zeroIncrement(stream) }
            return .streamError(stream, .zeroIncrement(stream))
        case .priorityUpdate:
            let prioritized = StreamID(payload.number(at: 0))
            guard !prioritized.isConnection else { throw .priorityUpdateOfConnection }
            // If the value is longer than `FrameLimits.priorityOctets`, the payload contains only its beginning.
            guard payload.count == header.length else { return .ignored(header.type, stream) }
            return .priorityUpdate(prioritized, value: payload.octets(from: 4))
        default:
            return .ignored(header.type, stream)
        }
    }

    /// Returns the range of the field block fragment in HEADERS or PUSH_PROMISE: the payload without its prefix and
    /// padding. Throws if the padding is longer than the rest of the payload.
    private static func fragmentRange(
        _ header: FrameHeader, _ payload: Span<UInt8>
    ) throws(HTTP2Error) -> Range<Int> {
        let room = payload.count &- header.prefixLength
        let padding = header.flags.contains(.padded) ? Int(payload[0]) : 0
        guard padding <= room else {
            throw .paddingTooLong(header.type, padding: padding, room: room)
        }
        return header.prefixLength..<(payload.count &- padding)
    }

    /// Parses the payload of SETTINGS.
    private static func settings(_ payload: Span<UInt8>) -> [Setting] {
        // Each setting has an identifier of two octets and a value of four. `FrameRule` has checked the length of the payload.
        stride(from: 0, to: payload.count, by: Setting.octetCount).map { start in
            let identifier = UInt16(payload[start]) << 8 | UInt16(payload[start &+ 1])
            return Setting(Setting.Identifier(rawValue: identifier), payload.number(at: start &+ 2))
        }
    }
}

extension Span where Element == UInt8 {
    /// Returns the four octets from `start` on as a big-endian number; the caller has checked that they exist.
    fileprivate func number(at start: Int) -> UInt32 {
        UInt32(self[start]) << 24 | UInt32(self[start &+ 1]) << 16 | UInt32(self[start &+ 2]) << 8
            | UInt32(self[start &+ 3])
    }

    /// Returns the octets from `start` on.
    fileprivate func octets(from start: Int) -> [UInt8] {
        var octets: [UInt8] = []
        octets.append(self, start..<count)
        return octets
    }
}
