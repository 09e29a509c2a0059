// SPDX-License-Identifier: MIT

internal import LupineCoding
internal import LupineHTTP

/// A web socket at the origin: sends messages and echoes those of the client, as a `WebSocketBehaviour` says. It uses one
/// connection, or one stream of HTTP/2. Used on its loop only.
///
/// It reads only while there is space for output. A client that does not read therefore costs the memory of one message.
final class WebSocketEcho: Conversation {
    private let behaviour: WebSocketBehaviour
    /// The subprotocol and the compression that the handshake has negotiated.
    private let agreement: WebSocketAgreement
    private var codec: WebSocketCodec
    /// Compresses sent messages; nil if they are sent uncompressed.
    private let deflater: MessageDeflater?
    /// Decompresses received messages; nil without compression.
    private let inflater: MessageInflater?
    /// Whether the messages after the handshake have been sent.
    private var hasBegun = false
    private var isOver = false
    /// The number of echoed messages.
    private var messageCount = 0

    /// Creates the conversation that follows a WebSocket handshake. `agreement` is the result of the handshake.
    init(_ behaviour: WebSocketBehaviour, _ agreement: WebSocketAgreement) {
        self.behaviour = behaviour
        self.agreement = agreement
        codec = WebSocketCodec(
            .server, messageLimit: WebSocketBehaviour.messageLimit,
            allowsCompression: agreement.deflate != nil)
        inflater = agreement.deflate.map { MessageInflater(keepsContext: !$0.clientNoContextTakeover) }
        deflater = agreement.deflate.flatMap { deflate in
            // zlib does not support the window of 8 bits. Messages may always be sent uncompressed.
            guard deflate.serverMaxWindowBits >= 9 else { return nil }
            return try? MessageDeflater(
                windowBits: deflate.serverMaxWindowBits, keepsContext: !deflate.serverNoContextTakeover)
        }
    }

    var wantsInput: Bool { !isOver }
    /// Always false, so that no idle timeout applies: a web socket may be idle for any time.
    var awaitsClient: Bool { false }
    /// Does nothing: the web socket begins no wait.
    func resume(_ connection: ServerConnection) {}

    func advance(_ connection: ServerConnection) -> Bool { advance(over: connection) }

    /// Reads input and produces output, as far as there is space for output. Returns false if it has neither read nor
    /// produced anything.
    func advance(over transport: some WebSocketTransport) -> Bool {
        guard !isOver else { return false }
        if !hasBegun {
            hasBegun = true
            sendFirstFrames(&transport.output)
            return true
        }
        var hasProgressed = false
        // Ends, because the codec also consumes the octets of an incomplete frame.
        while transport.hasOutputRoom, !isOver, transport.inputCount > 0 {
            handleNextEvent(transport)
            hasProgressed = true
        }
        if transport.hasPeerEnded, transport.inputCount == 0, !isOver {
            isOver = true
            transport.finish(.orderly(lingering: false))
            return true
        }
        return hasProgressed
    }

    /// Sends the frames that the behaviour demands after the handshake. `mask` is nil, because a server does not mask its frames.
    private func sendFirstFrames(_ output: inout [UInt8]) {
        if let text = behaviour.ping { codec.sendPing(Array(text.utf8).span, mask: nil, into: &output) }
        if let text = behaviour.pong { codec.sendPong(Array(text.utf8).span, mask: nil, into: &output) }
        for number in 0..<behaviour.messageCount { send(.text, Array(String(number).utf8), &output) }
        if let size = behaviour.binarySize { send(.binary, [UInt8](repeating: 0x2A, count: size), &output) }
        output += behaviour.rawOctets
        // The result is not needed: the connection ends when the client answers the close frame.
        if let frame = behaviour.closeFrame { _ = codec.close(.close(frame), mask: nil, into: &output) }
    }

    /// Parses the next event of the input, and reacts to it.
    private func handleNextEvent(_ transport: some WebSocketTransport) {
        do throws(WebSocketError) {
            let (event, consumed) = try transport.withInput { input throws(WebSocketError) in
                try codec.next(input)
            }
            transport.consume(consumed)
            switch event {
            case .needMore, .pong: break
            case .ping(let payload): codec.sendPong(payload.span, mask: nil, into: &transport.output)
            case .message(let message): try echo(message, transport)
            case .close(let frame): if !behaviour.ignoresCloseFrame { answerClose(frame, transport) }
            }
        } catch {
            // The input after an error cannot be parsed, so the connection ends whatever the result is.
            _ = codec.close(.failed(error), mask: nil, into: &transport.output)
            isOver = true
            transport.finish(.orderly(lingering: true))
        }
    }

    /// Sends a message back, and closes the connection if `dropCount` messages have been echoed.
    private func echo(
        _ message: WebSocketMessage, _ transport: some WebSocketTransport
    ) throws(WebSocketError) {
        var octets = message.octets
        if message.isCompressed, let inflater {
            do throws(CodingError) {
                octets = try inflater.inflate(octets.span, limit: WebSocketBehaviour.messageLimit)
            } catch { throw .invalidCompression }
        }
        messageCount += 1
        // After a close frame no message may be sent.
        if codec.maySend { send(message.kind, octets, &transport.output) }
        guard let dropCount = behaviour.dropCount, messageCount >= dropCount else { return }
        isOver = true
        transport.finish(.withoutNotify)
    }

    /// Sends a message, compressed and in fragments as the behaviour demands.
    private func send(_ kind: WebSocketMessage.Kind, _ octets: [UInt8], _ output: inout [UInt8]) {
        var payload = octets
        if let deflater {
            payload = []
            deflater.deflate(octets.span, into: &payload)
        }
        // At most 65,536 fragments: the rounded-up quotient of the payload's length and 65,536 is their minimum size.
        let fragmentSize = max(behaviour.fragmentSize ?? payload.count, (payload.count + 0xFFFF) >> 16, 1)
        var start = 0
        repeat {
            let end = min(payload.count, start + fragmentSize)
            // Only the first fragment has the bit that marks a compressed message (RFC 7692 §6.1).
            codec.send(
                kind, payload.span.extracting(start..<end), isFinal: end == payload.count,
                isCompressed: deflater != nil && start == 0, mask: nil, into: &output)
            start = end
        } while start < payload.count
    }

    /// Answers the client's close frame, and ends the transport if both sides have sent a close frame.
    private func answerClose(_ frame: WebSocketCloseFrame, _ transport: some WebSocketTransport) {
        let actions = codec.close(.received(frame), mask: nil, into: &transport.output)
        switch actions.connection {
        case .keep: break
        // `finish` sends all output first in either case.
        case .close, .closeWhenSent:
            isOver = true
            transport.finish(.orderly(lingering: true))
        }
    }
}
