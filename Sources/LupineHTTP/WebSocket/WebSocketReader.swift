// SPDX-License-Identifier: MIT

/// Reads a peer's frames: assembles messages from their fragments, and validates them as they arrive (RFC 6455 §5.4, §5.5, §8.1).
///
/// The reader checks the size of a message when a frame announces its length, before it stores the payload, and validates text
/// octet by octet. Control frames may arrive between fragments. The reader stores at most one message within the limit and the
/// payload of one control frame.
struct WebSocketReader {
    private enum Position {
        /// In the head of a frame, or before it.
        case head
        /// In the payload of a frame, of which `consumed` octets have arrived.
        case payload(WebSocketFrameHead, consumed: Int)
    }

    /// A message of which some frames have arrived.
    fileprivate struct IncompleteMessage {
        /// The message, with the octets that have arrived.
        var message: WebSocketMessage
        /// Validates the octets of a text.
        var validator = UTF8Validator()
    }

    /// The maximum size of a message in octets.
    var messageLimit: Int
    private var parser: WebSocketFrameHeadParser
    private var position = Position.head
    /// The current message; nil between messages.
    private var incompleteMessage: IncompleteMessage?
    /// The octets of the current control frame's payload that have arrived.
    private var controlPayload: [UInt8] = []

    init(_ role: WebSocketRole, allowsCompression: Bool, messageLimit: Int) {
        parser = WebSocketFrameHeadParser(role, allowsCompression: allowsCompression)
        self.messageLimit = messageLimit
    }

    /// Returns the next event in `input`, and the number of octets that it consumed. `.needMore` consumes all of the input.
    mutating func next(_ input: Span<UInt8>) throws(WebSocketError) -> (event: WebSocketEvent, consumed: Int)
    {
        var index = 0
        while true {
            switch position {
            case .head:
                guard index < input.count else { return (.needMore, index) }
                if let head = try parser.parse(input[index]) {
                    try beginFrame(head)
                    position = .payload(head, consumed: 0)
                }
                index &+= 1
            case .payload(let head, let consumed):
                let count = min(head.length &- consumed, input.count &- index)
                if count > 0 {
                    try appendPayload(input, index..<(index &+ count), head, payloadOffset: consumed)
                }
                index &+= count
                guard consumed &+ count == head.length else {
                    position = .payload(head, consumed: consumed &+ count)
                    return (.needMore, index)
                }
                position = .head
                if let event = try endFrame(head) { return (event, index) }
            }
        }
    }

    /// Begins a frame, and a message if the frame is the first of one. Throws if the frame is out of order, or if its message
    /// becomes larger than the limit.
    private mutating func beginFrame(_ head: WebSocketFrameHead) throws(WebSocketError) {
        switch head.opcode {
        case .close, .ping, .pong:
            return
        case .continuation:
            guard incompleteMessage != nil else { throw .continuationWithoutMessage }
        case .text, .binary:
            guard incompleteMessage == nil else { throw .messageInsideMessage }
            let kind = head.opcode == .text ? WebSocketMessage.Kind.text : .binary
            incompleteMessage = IncompleteMessage(
                message: WebSocketMessage(kind, [], isCompressed: head.isCompressed))
        }
        let limit = max(messageLimit, 0)
        let receivedCount = incompleteMessage?.message.octets.count ?? 0
        guard receivedCount <= limit, head.length <= limit &- receivedCount else {
            throw .messageTooBig(limit: limit)
        }
    }

    /// Appends octets of the frame's payload to its message, or to the control frame.
    private mutating func appendPayload(
        _ input: Span<UInt8>, _ range: Range<Int>, _ head: WebSocketFrameHead, payloadOffset: Int
    ) throws(WebSocketError) {
        if head.opcode.isControl {
            controlPayload.append(input, range, unmaskedBy: head.mask, payloadOffset: payloadOffset)
            return
        }
        try incompleteMessage?.append(input, range, head, payloadOffset: payloadOffset)
    }

    /// Ends a frame, whose payload is complete. Returns its event, or nil if more fragments of its message follow.
    private mutating func endFrame(_ head: WebSocketFrameHead) throws(WebSocketError) -> WebSocketEvent? {
        switch head.opcode {
        case .ping: return .ping(extractControlPayload())
        case .pong: return .pong(extractControlPayload())
        case .close: return .close(try WebSocketCloseFrame(received: extractControlPayload()))
        case .continuation, .text, .binary:
            guard head.isFinal, let incompleteMessage else { return nil }
            self.incompleteMessage = nil
            // The validator of a binary or compressed message has received no octets, so that the condition holds.
            guard incompleteMessage.validator.isBetweenCharacters else {
                throw .invalidUTF8(offset: incompleteMessage.message.octets.count)
            }
            return .message(incompleteMessage.message)
        }
    }

    /// Returns the payload of the current control frame, and prepares for the next one.
    private mutating func extractControlPayload() -> [UInt8] {
        let payload = controlPayload
        controlPayload = []
        return payload
    }
}

extension WebSocketReader.IncompleteMessage {
    /// Appends octets of a frame's payload. Throws if the message is text and the octets are not valid UTF-8.
    fileprivate mutating func append(
        _ input: Span<UInt8>, _ range: Range<Int>, _ head: WebSocketFrameHead, payloadOffset: Int
    ) throws(WebSocketError) {
        let start = message.octets.count
        message.octets.append(input, range, unmaskedBy: head.mask, payloadOffset: payloadOffset)
        guard message.kind == .text, !message.isCompressed else { return }
        // Validates with a copy, while the span borrows the octets of `self`.
        var newValidator = validator
        let invalidIndex = newValidator.validate(message.octets.span.extracting(start...))
        validator = newValidator
        if let invalidIndex { throw .invalidUTF8(offset: start + invalidIndex) }
    }
}

extension [UInt8] {
    /// Appends the octets in `range` of `input`, which are part of a frame's payload, and unmasks them. The first of them is the
    /// octet at `payloadOffset` of the payload.
    fileprivate mutating func append(
        _ input: Span<UInt8>, _ range: Range<Int>, unmaskedBy mask: WebSocketMask?, payloadOffset: Int
    ) {
        let start = count
        append(input, range)
        guard let mask else { return }
        var octets = mutableSpan
        mask.apply(to: &octets, from: start, payloadOffset: payloadOffset)
    }
}
