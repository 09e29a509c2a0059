// SPDX-License-Identifier: MIT

/// Assembles messages from frames, and validates them as they arrive (RFC 6455 §5.4, §5.5, §8.1).
///
/// The size of a message is checked when a frame announces it, before memory is allocated; text at each octet. Control frames may
/// arrive between fragments. It stores at most one message within the limit and one control frame.
struct WebSocketReader {
    private enum Position {
        case head
        /// In a payload, of which `taken` octets were consumed.
        case payload(WebSocketFrameHead, taken: Int)
    }

    /// The received part of a message.
    fileprivate struct Assembly {
        var message: WebSocketMessage
        var text = UTF8Progress()
    }

    /// The maximum size of a message in octets.
    var messageLimit: Int
    private var parser: WebSocketFrameHeadParser
    private var position = Position.head
    private var assembly: Assembly?
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
                if let head = try parser.take(input[index]) {
                    try begin(head)
                    position = .payload(head, taken: 0)
                }
                index &+= 1
            case .payload(let head, let taken):
                let count = min(head.length &- taken, input.count &- index)
                if count > 0 { try take(input, index..<(index &+ count), head, payloadOffset: taken) }
                index &+= count
                guard taken &+ count == head.length else {
                    position = .payload(head, taken: taken &+ count)
                    return (.needMore, index)
                }
                position = .head
                if let event = try end(head) { return (event, index) }
            }
        }
    }

    private mutating func begin(_ head: WebSocketFrameHead) throws(WebSocketError) {
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
        let held = assembly?.message.octets.count ?? 0
        guard held <= limit, head.length <= limit &- held else { throw .messageTooBig(limit: limit) }
    }

    private mutating func take(
        _ input: Span<UInt8>, _ range: Range<Int>, _ head: WebSocketFrameHead, payloadOffset: Int
    ) throws(WebSocketError) {
        if head.opcode.isControl {
            control.append(input, range, unmaskedBy: head.mask, payloadOffset: payloadOffset)
            return
        }
        try assembly?.take(input, range, head, payloadOffset: payloadOffset)
    }

    private mutating func end(_ head: WebSocketFrameHead) throws(WebSocketError) -> WebSocketEvent? {
        switch head.opcode {
        case .ping: return .ping(takeControl())
        case .pong: return .pong(takeControl())
        case .close: return .close(try WebSocketClosure(received: takeControl()))
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
    /// Appends octets of a frame's payload.
    fileprivate mutating func take(
        _ input: Span<UInt8>, _ range: Range<Int>, _ head: WebSocketFrameHead, payloadOffset: Int
    ) throws(WebSocketError) {
        let start = message.octets.count
        message.octets.append(input, range, unmaskedBy: head.mask, payloadOffset: payloadOffset)
        guard message.kind == .text, !message.isCompressed else { return }
        var progress = text
        let fault = progress.take(message.octets.span.extracting(start...))
        text = progress
        if let fault { throw .invalidUTF8(offset: start + fault) }
    }
}

extension [UInt8] {
    /// Appends unmasked octets of a payload; the first of them is at `payloadOffset` in it.
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
