// SPDX-License-Identifier: MIT

/// One end of a WebSocket connection, once the handshake is over: messages, pings and the close out, events in
/// (RFC 6455).
///
/// Sans-IO, like `ClientCodec`: its owner appends what it writes to what is to be sent, hands it what has been received,
/// and asks for events until it needs more. It belongs to one thread at a time. Once it has thrown, the same error is
/// thrown again, until the owner hands it to `close(_:mask:into:)`, which answers it; then the rest is dropped.
///
/// It answers nothing on its own: a ping is an event, and the owner sends the pong, so that it is the owner who knows how
/// much waits to be sent. It neither compresses nor draws random numbers: compressed messages go through it as they
/// are, and a client brings a fresh mask for each frame.
package struct WebSocketCodec {
    private enum Outgoing {
        /// Between messages.
        case none
        /// In a fragmented message.
        case message(WebSocketMessage.Kind)
    }

    private let role: WebSocketRole
    private let allowsCompression: Bool
    private var reader: WebSocketReader
    private var closing: WebSocketClosing
    private var outgoing = Outgoing.none
    private var peerHasClosed = false
    private var failure: WebSocketError?

    /// The size of a message that URLSession takes unless told otherwise.
    package static let usualMessageLimit = 1 << 20

    /// Most octets of a message that is taken. Counts from the next frame on. Of a compressed message it is the octets
    /// before they are decompressed, which may be a few more than it then has.
    package var messageLimit: Int {
        get { reader.messageLimit }
        set { reader.messageLimit = newValue }
    }

    /// A codec for a connection whose handshake has just been completed. `allowsCompression` says that
    /// permessage-deflate was agreed on.
    package init(
        _ role: WebSocketRole, messageLimit: Int = Self.usualMessageLimit, allowsCompression: Bool = false
    ) {
        self.role = role
        self.allowsCompression = allowsCompression
        reader = WebSocketReader(role, allowsCompression: allowsCompression, messageLimit: messageLimit)
        closing = WebSocketClosing(role)
    }

    // MARK: out

    /// Whether frames may still be sent: until our close frame.
    package var maySend: Bool { closing.state == .open }

    /// How far the closing handshake has come.
    package var closingState: WebSocketClosing.State { closing.state }

    /// Writes a message, or with `isFinal: false` a fragment of one, whose others are sent by further calls with the same
    /// kind. Pings, pongs and the close may go between. Text must be UTF-8, unless it is compressed; a fragment of it
    /// may end anywhere. `isCompressed` is said with the first fragment.
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

    /// Writes a ping. The payload, of at most 125 octets, comes back in the pong.
    package func sendPing(_ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]) {
        writeControl(.ping, payload, mask: mask, into: &output)
    }

    /// Writes a pong: the answer to a ping has its payload, of at most 125 octets. Behind our close frame it writes
    /// nothing, since a ping may cross it.
    package func sendPong(_ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]) {
        if maySend { writeControl(.pong, payload, mask: mask, into: &output) }
    }

    /// Moves the closing handshake on, for each close frame and error that `next` has given too: writes the close
    /// frame if one is due, and says what to do.
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

    private func writeControl(
        _ opcode: WebSocketOpcode, _ payload: Span<UInt8>, mask: WebSocketMask?, into output: inout [UInt8]
    ) {
        precondition(payload.count <= WebSocketFrameHead.longestControl, "a control frame that is too long")
        let head = WebSocketFrameHead(
            isFinal: true, isCompressed: false, opcode: opcode, length: payload.count, mask: mask)
        write(head, payload, into: &output)
    }

    private func write(_ head: WebSocketFrameHead, _ payload: Span<UInt8>, into output: inout [UInt8]) {
        precondition(maySend, "a frame behind the close frame")
        encode(head, payload, into: &output)
    }

    private func encode(_ head: WebSocketFrameHead, _ payload: Span<UInt8>, into output: inout [UInt8]) {
        precondition((head.mask != nil) == (role == .client), "a client masks, a server does not")
        head.encode(into: &output)
        let start = output.count
        output.append(payload, 0..<payload.count)
        guard let mask = head.mask else { return }
        var written = output.mutableSpan
        mask.apply(to: &written, from: start, place: 0)
    }

    // MARK: in

    /// Takes from `input` what the next event is made of. Ask again with the rest until it says `.needMore`, which
    /// leaves nothing over. What comes behind the peer's close frame, or once all is over, is taken and dropped
    /// (§5.5.1).
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
