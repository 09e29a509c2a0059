// SPDX-License-Identifier: MIT

/// One end of a WebSocket connection after the opening handshake: it writes messages, pings and close frames, and reads those of
/// the peer (RFC 6455).
///
/// The codec does no I/O, like `ClientCodec`. Its owner, which has the connection, sends the octets that the codec appends to
/// `output`. The owner passes received octets to `next`, and calls it until it returns `.needMore`. The owner uses the codec on
/// one thread at a time.
///
/// After an error `next` throws the same error again, until the owner passes the error to `close(_:mask:into:)`. That function
/// writes a close frame for the error, and `next` then drops further input.
///
/// The codec sends no answers of its own: a ping is an event, for which the owner sends the pong, because only the owner knows
/// how much output is pending. The codec does not compress: compressed messages pass through it unchanged. It has no random
/// numbers: a client passes a new mask for each frame.
package struct WebSocketCodec {
    /// Whether a fragmented message is being sent.
    private enum Outgoing {
        /// No: the next frame begins a message.
        case none
        /// Yes, one of this kind: the next frame continues it.
        case message(WebSocketMessage.Kind)
    }

    private let role: WebSocketRole
    private let allowsCompression: Bool
    private var reader: WebSocketReader
    private var closing: WebSocketClosing
    private var outgoing = Outgoing.none
    /// Whether the peer's close frame has arrived.
    private var hasReceivedClose = false
    /// The error in received frames, which `next` throws again.
    private var failure: WebSocketError?

    /// The default of `messageLimit`, which is also that of `URLSessionWebSocketTask`: 1 MiB.
    package static let defaultMessageLimit = 1 << 20

    /// The maximum size in octets of a received message. A change applies from the next frame on. For a compressed message the
    /// limit applies to the compressed octets, which can be slightly more than the decompressed ones. The owner decompresses the
    /// message, and has to limit the decompressed octets itself.
    package var messageLimit: Int {
        get { reader.messageLimit }
        set { reader.messageLimit = newValue }
    }

    /// Creates a codec for a connection whose opening handshake is complete. `allowsCompression` is true if client and server
    /// have agreed on permessage-deflate.
    package init(
        _ role: WebSocketRole, messageLimit: Int = Self.defaultMessageLimit, allowsCompression: Bool = false
    ) {
        self.role = role
        self.allowsCompression = allowsCompression
        reader = WebSocketReader(role, allowsCompression: allowsCompression, messageLimit: messageLimit)
        closing = WebSocketClosing(role)
    }

    // MARK: Sending

    /// Whether messages, pings and pongs may be sent; false once the closing handshake has begun.
    package var maySend: Bool { closing.state == .open }

    /// The state of the closing handshake.
    package var closingState: WebSocketClosing.State { closing.state }

    /// Writes a message or, with `isFinal: false`, a fragment of one.
    ///
    /// Further calls with the same kind write the other fragments, of which the last has `isFinal: true`. Pings, pongs and the
    /// close frame may be sent between fragments. Text must be UTF-8, unless it is compressed; a fragment may end within a
    /// character. `isCompressed` applies to the whole message, and may be true only for its first fragment. A client passes a new
    /// `mask` for each frame, a server passes nil.
    package mutating func send(
        _ kind: WebSocketMessage.Kind, _ payload: Span<UInt8>, isFinal: Bool = true,
        isCompressed: Bool = false,
        mask: WebSocketMask?, into output: inout [UInt8]
    ) {
        let opcode: WebSocketOpcode
        switch outgoing {
        case .none:
            precondition(!isCompressed || allowsCompression, "compression that was not agreed on")
            opcode = kind == .text ? .text : .binary
        case .message(let currentKind):
            precondition(currentKind == kind, "a message of another kind before the end of the one before it")
            precondition(!isCompressed, "compression is said with the first fragment")
            opcode = .continuation
        }
        outgoing = isFinal ? .none : .message(kind)
        let head = WebSocketFrameHead(
            isFinal: isFinal, isCompressed: isCompressed, opcode: opcode, length: payload.count, mask: mask)
        write(head, payload, into: &output)
    }

    /// Writes a ping with a payload of at most 125 octets, which the peer returns in its pong.
    package func sendPing(_ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]) {
        writeControl(.ping, payload, mask: mask, into: &output)
    }

    /// Writes a pong with a payload of at most 125 octets. A pong that answers a ping has the payload of the ping. Writes nothing
    /// once the closing handshake has begun, because a ping may still arrive then.
    package func sendPong(_ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]) {
        if maySend { writeControl(.pong, payload, mask: mask, into: &output) }
    }

    /// Advances the closing handshake by an event. Writes the close frame if this end has to send one, and returns the actions
    /// that the owner has to perform. The owner also passes each close frame and each error from `next` to this function.
    package mutating func close(
        _ event: WebSocketClosing.Event, mask: WebSocketMask?, into output: inout [UInt8]
    ) -> WebSocketClosing.Actions {
        let actions = closing.handle(event)
        if let closeFrame = actions.frame {
            let payload = closeFrame.payload
            let head = WebSocketFrameHead(
                isFinal: true, isCompressed: false, opcode: .close, length: payload.count, mask: mask)
            encode(head, payload.span, into: &output)
        }
        return actions
    }

    /// Writes a ping or a pong.
    private func writeControl(
        _ opcode: WebSocketOpcode, _ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]
    ) {
        precondition(
            payload.count <= WebSocketFrameHead.maximumControlPayloadLength,
            "a control frame that is too long")
        let head = WebSocketFrameHead(
            isFinal: true, isCompressed: false, opcode: opcode, length: payload.count, mask: mask)
        write(head, payload, into: &output)
    }

    /// Writes a frame other than a close frame; traps after a close frame.
    private func write(_ head: WebSocketFrameHead, _ payload: Span<UInt8>, into output: inout [UInt8]) {
        precondition(maySend, "a frame behind the close frame")
        encode(head, payload, into: &output)
    }

    /// Writes a frame of any type. Masks the payload if the head has a mask.
    private func encode(_ head: WebSocketFrameHead, _ payload: Span<UInt8>, into output: inout [UInt8]) {
        precondition((head.mask != nil) == (role == .client), "a client masks, a server does not")
        head.encode(into: &output)
        let start = output.count
        output.append(payload, 0..<payload.count)
        guard let mask = head.mask else { return }
        var written = output.mutableSpan
        mask.apply(to: &written, from: start, payloadOffset: 0)
    }

    // MARK: Receiving

    /// Returns the next event and the number of octets of `input` that it consumed. Call it again with the remaining octets until
    /// it returns `.needMore`, which consumes everything. Consumes and drops input after the peer's close frame, or after the end
    /// of the closing handshake (RFC 6455 §5.5.1).
    package mutating func next(
        _ input: Span<UInt8>
    ) throws(WebSocketError) -> (event: WebSocketEvent, consumed: Int) {
        switch closing.state {
        case .open, .closing: break
        case .draining, .closed: return (.needMore, input.count)
        }
        if let failure { throw failure }
        // The owner has not yet passed the peer's close frame to `close`, so the state is still `open` or `closing`.
        guard !hasReceivedClose else { return (.needMore, input.count) }
        do {
            let result = try reader.next(input)
            if case .close = result.event { hasReceivedClose = true }
            return result
        } catch {
            failure = error
            throw error
        }
    }
}
