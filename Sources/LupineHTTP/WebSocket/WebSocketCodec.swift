// SPDX-License-Identifier: MIT

/// One end of a WebSocket connection after the handshake: writes messages, pings and the close frame, and reads events (RFC
/// 6455).
///
/// Does no I/O, like `ClientCodec`: its owner sends the octets that the codec appends to `output`, passes received octets to it,
/// and calls `next` until it needs more. Used on one thread at a time. Once `next` has thrown an error, it throws the same error
/// again, until the owner passes the error to `close(_:mask:into:)`, which writes a close frame for it; `next` then drops further
/// input.
///
/// The codec answers nothing by itself: a ping is an event, and the owner sends the pong, because the owner knows how much output
/// is pending. It neither compresses nor generates random numbers: compressed messages pass through unchanged, and a client
/// supplies a new mask for each frame.
package struct WebSocketCodec {
    private enum Outgoing {
        /// Between messages.
        case none
        /// Within a fragmented message.
        case message(WebSocketMessage.Kind)
    }

    private let role: WebSocketRole
    private let allowsCompression: Bool
    private var reader: WebSocketReader
    private var closing: WebSocketClosing
    private var outgoing = Outgoing.none
    private var peerHasClosed = false
    private var failure: WebSocketError?

    /// The default of `messageLimit`, that of `URLSessionWebSocketTask`: 1 MiB.
    package static let defaultMessageLimit = 1 << 20

    /// The maximum size in octets of a received message. A change applies from the next frame on. For a compressed message this
    /// is a limit on the compressed octets, which may be slightly more than the decompressed ones; the owner decompresses the
    /// message, and has to limit the latter itself.
    package var messageLimit: Int {
        get { reader.messageLimit }
        set { reader.messageLimit = newValue }
    }

    /// A codec for a connection whose handshake has just been completed. `allowsCompression` is true if permessage-deflate was
    /// negotiated.
    package init(
        _ role: WebSocketRole, messageLimit: Int = Self.defaultMessageLimit, allowsCompression: Bool = false
    ) {
        self.role = role
        self.allowsCompression = allowsCompression
        reader = WebSocketReader(role, allowsCompression: allowsCompression, messageLimit: messageLimit)
        closing = WebSocketClosing(role)
    }

    // MARK: Sending

    /// Whether frames may still be sent; false once the closing handshake has begun.
    package var maySend: Bool { closing.state == .open }

    /// The state of the closing handshake.
    package var closingState: WebSocketClosing.State { closing.state }

    /// Writes a message or, with `isFinal: false`, its first fragment; further calls with the same kind write the others. Pings,
    /// pongs and the close frame may be sent in between. Text must be UTF-8, unless it is compressed; a fragment may end within a
    /// character. `isCompressed` is given with the first fragment.
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
        case .message(let begun):
            precondition(begun == kind, "a message of another kind before the end of the one before it")
            precondition(!isCompressed, "compression is said with the first fragment")
            opcode = .continuation
        }
        outgoing = isFinal ? .none : .message(kind)
        let head = WebSocketFrameHead(
            isFinal: isFinal, isCompressed: isCompressed, opcode: opcode, length: payload.count, mask: mask)
        write(head, payload, into: &output)
    }

    /// Writes a ping. Its payload, of at most 125 octets, is returned in the pong.
    package func sendPing(_ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]) {
        writeControl(.ping, payload, mask: mask, into: &output)
    }

    /// Writes a pong with a payload of at most 125 octets; a pong that answers a ping carries the ping's payload. Once the
    /// closing handshake has begun, it writes nothing: a ping may still arrive then.
    package func sendPong(_ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]) {
        if maySend { writeControl(.pong, payload, mask: mask, into: &output) }
    }

    /// Advances the closing handshake by an event, which includes each close frame and each error from `next`. Writes the close
    /// frame if this end has to send one, and returns the actions.
    package mutating func close(
        _ event: WebSocketClosing.Event, mask: WebSocketMask?, into output: inout [UInt8]
    ) -> WebSocketClosing.Actions {
        let actions = closing.handle(event)
        if let closure = actions.frame {
            let payload = closure.payload
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
            payload.count <= WebSocketFrameHead.maximumControlPayloadLength, "a control frame that is too long")
        let head = WebSocketFrameHead(
            isFinal: true, isCompressed: false, opcode: opcode, length: payload.count, mask: mask)
        write(head, payload, into: &output)
    }

    /// Writes a frame that must not follow a close frame.
    private func write(_ head: WebSocketFrameHead, _ payload: Span<UInt8>, into output: inout [UInt8]) {
        precondition(maySend, "a frame behind the close frame")
        encode(head, payload, into: &output)
    }

    /// Writes any frame, masking the payload if the head has a mask.
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
    /// it returns `.needMore`, which consumes everything. Input after the peer's close frame, or after the end of the closing
    /// handshake, is consumed and dropped (§5.5.1).
    package mutating func next(
        _ input: Span<UInt8>
    ) throws(WebSocketError) -> (event: WebSocketEvent, consumed: Int) {
        switch closing.state {
        case .open, .closing: break
        case .draining, .closed: return (.needMore, input.count)
        }
        if let failure { throw failure }
        guard !peerHasClosed else { return (.needMore, input.count) }
        do {
            let step = try reader.next(input)
            if case .close = step.event { peerHasClosed = true }
            return step
        } catch {
            failure = error
            throw error
        }
    }
}
