// SPDX-License-Identifier: MIT

/// Assembles messages from frames, and validates them as they arrive (RFC 6455 §5.4, §5.5, §8.1).
///
/// It checks the size of a message when a frame announces it, before allocating memory, and validates text octet by octet.
/// Control frames may arrive between fragments. It stores at most one message within the limit and one control frame.
struct WebSocketReader {
    private enum Position {
        case head
        /// In a payload, of which `taken` octets have been consumed.
        case payload(WebSocketFrameHead, taken: Int)
    }

    /// The received part of a message.
    fileprivate struct Assembly {
        var message: WebSocketMessage
        var text = UTF8Validator()
    }

    /// The maximum size of a message in octets.
    var messageLimit: Int
    private var parser: WebSocketFrameHeadParser
    private var position = Position.head
    /// The current message; nil between messages.
    private var assembly: Assembly?
    /// The payload of the current control frame.
    private var control: [UInt8] = []

    init(_ role: WebSocketRole, allowsCompression: Bool, messageLimit: Int) {
        parser = WebSocketFrameHeadParser(role, allowsCompression: allowsCompression)
        self.messageLimit = messageLimit
    }

    /// Consumes octets up to the next event. With `.needMore` all of the input was consumed.
    mutating func next(_ input: Span<UInt8>) throws(WebSocketError) -> (event: WebSocketEvent, consumed: Int)
    {
        var index = 0
        while true {
            switch position {
            case .head:
                guard index < input.count else { return (.needMore, index) }
                if let head = try parser.parse(input[index]) {
                    try beginFrame(head)
                    position = .payload(head, taken: 0)
                }
                index &+= 1
            case .payload(let head, let taken):
                let count = min(head.length &- taken, input.count &- index)
                if count > 0 {
                    try appendPayload(input, index..<(index &+ count), head, payloadOffset: taken)
                }
                index &+= count
                guard taken &+ count == head.length else {
                    position = .payload(head, taken: taken &+ count)
                    return (.needMore, index)
                }
                position = .head
                if let event = try endFrame(head) { return (event, index) }
            }
        }
    }

    /// Checks that the frame may come now and is not too large, and begins a message if it is the first of one.
    private mutating func beginFrame(_ head: WebSocketFrameHead) throws(WebSocketError) {
        switch head.opcode {
        case .close, .ping, .pong:
            return
        case .continuation:
            guard assembly != nil else { throw .continuationWithoutMessage }
        case .text, .binary:
            guard assembly == nil else { throw .messageInsideMessage }
            let kind = head.opcode == .text ? WebSocketMessage.Kind.text : .binary
            assembly = Assembly(message: WebSocketMessage(kind, [], isCompressed: head.isCompressed))
        }
        let limit = max(messageLimit, 0)
        let assembled = assembly?.message.octets.count ?? 0
        guard assembled <= limit, head.length <= limit &- assembled else {
            throw .messageTooBig(limit: limit)
        }
    }

    /// Appends octets of the frame's payload to its message, or to the control frame.
    private mutating func appendPayload(
        _ input: Span<UInt8>, _ range: Range<Int>, _ head: WebSocketFrameHead, payloadOffset: Int
    ) throws(WebSocketError) {
        if head.opcode.isControl {
            control.append(input, range, unmaskedBy: head.mask, payloadOffset: payloadOffset)
            return
        }
        try assembly?.append(input, range, head, payloadOffset: payloadOffset)
    }

    /// Returns the event of a complete frame; nil within a fragmented message.
    private mutating func endFrame(_ head: WebSocketFrameHead) throws(WebSocketError) -> WebSocketEvent? {
        switch head.opcode {
        case .ping: return .ping(takeControl())
        case .pong: return .pong(takeControl())
        case .close: return .close(try WebSocketCloseFrame(received: takeControl()))
        case .continuation, .text, .binary:
            guard head.isFinal, let assembly else { return nil }
            self.assembly = nil
            guard assembly.text.isBetweenCharacters else {
                throw .invalidUTF8(offset: assembly.message.octets.count)
            }
            return .message(assembly.message)
        }
    }

    private mutating func takeControl() -> [UInt8] {
        let payload = control
        control = []
        return payload
    }
}

extension WebSocketReader.Assembly {
    /// Appends octets of a frame's payload; throws if they are text that is not UTF-8.
    fileprivate mutating func append(
        _ input: Span<UInt8>, _ range: Range<Int>, _ head: WebSocketFrameHead, payloadOffset: Int
    ) throws(WebSocketError) {
        let start = message.octets.count
        message.octets.append(input, range, unmaskedBy: head.mask, payloadOffset: payloadOffset)
        guard message.kind == .text, !message.isCompressed else { return }
        var progress = text
        let fault = progress.validate(message.octets.span.extracting(start...))
        text = progress
        if let fault { throw .invalidUTF8(offset: start + fault) }
    }
}

extension [UInt8] {
    /// Appends octets of a payload, unmasked; the first of them is at `payloadOffset` in the payload.
    fileprivate mutating func append(
        _ input: Span<UInt8>, _ range: Range<Int>, unmaskedBy mask: WebSocketMask?, payloadOffset: Int
    ) {
        let start = count
        append(input, range)
        guard let mask else { return }
        var added = mutableSpan
        mask.apply(to: &added, from: start, payloadOffset: payloadOffset)
    }
}
