// SPDX-License-Identifier: MIT

internal import LupineCoding
internal import LupineHTTP

/// Runs a web socket on one connection, or one stream of HTTP/2, according to a `WebSocketBehaviour`. Used on its loop only.
///
/// It reads only while there is space for output, so that a client that does not read costs the memory of one message.
final class WebSocketEcho: Conversation {
    private let behaviour: WebSocketBehaviour
    private let agreement: WebSocketAgreement
    private var codec: WebSocketCodec
    private let deflater: MessageDeflater?
    private let inflater: MessageInflater?
    private var hasBegun = false
    private var isOver = false
    private var messageCount = 0

    /// Creates the conversation that follows a handshake with the result `agreement`.
    init(_ behaviour: WebSocketBehaviour, _ agreement: WebSocketAgreement) {
        self.behaviour = behaviour
        self.agreement = agreement
        codec = WebSocketCodec(
            .server, messageLimit: WebSocketBehaviour.messageLimit,
            allowsCompression: agreement.deflate != nil)
        inflater = agreement.deflate.map { MessageInflater(keepsContext: !$0.clientNoContextTakeover) }
        deflater = agreement.deflate.flatMap { deflate in
            guard deflate.serverMaxWindowBits >= 9 else { return nil }
            return try? MessageDeflater(
                windowBits: deflate.serverMaxWindowBits, keepsContext: !deflate.serverNoContextTakeover)
        }
    }

    var wantsInput: Bool { !isOver }
    var awaitsClient: Bool { false }
    func resume(_ connection: ServerConnection) {}

    func advance(_ connection: ServerConnection) -> Bool { advance(over: connection) }

    /// Makes as much progress as possible. Returns false if there was none.
    func advance(over connection: some EchoWire) -> Bool {
        guard !isOver else { return false }
        if !hasBegun {
            hasBegun = true
            sendOpening(&connection.output)
            return true
        }
        var progress = false
        while connection.hasRoom, !isOver, connection.inputCount > 0 {
            handleNextEvent(connection)
            progress = true
        }
        if connection.hasPeerEnded, connection.inputCount == 0, !isOver {
            isOver = true
            connection.finish(.orderly(lingering: false))
            return true
        }
        return progress
    }

    /// Sends the frames that the behaviour demands after the handshake.
    private func sendOpening(_ output: inout [UInt8]) {
        if let text = behaviour.ping { codec.sendPing(Array(text.utf8).span, mask: nil, into: &output) }
        if let text = behaviour.pong { codec.sendPong(Array(text.utf8).span, mask: nil, into: &output) }
        for number in 0..<behaviour.count { send(.text, Array(String(number).utf8), &output) }
        if let size = behaviour.size { send(.binary, [UInt8](repeating: 0x2A, count: size), &output) }
        output += behaviour.raw
        if let closure = behaviour.closure { _ = codec.close(.close(closure), mask: nil, into: &output) }
    }

    /// Handles one event of the input.
    private func handleNextEvent(_ connection: some EchoWire) {
        do throws(WebSocketError) {
            let (event, consumed) = try connection.withInput { input throws(WebSocketError) in
                try codec.next(input)
            }
            connection.consume(consumed)
            switch event {
            case .needMore, .pong: break
            case .ping(let payload): codec.sendPong(payload.span, mask: nil, into: &connection.output)
            case .message(let message): try echo(message, connection)
            case .close(let closure): if !behaviour.ignoresCloseFrame { answerClose(closure, connection) }
            }
        } catch {
            // The input after an error cannot be parsed.
            _ = codec.close(.failed(error), mask: nil, into: &connection.output)
            isOver = true
            connection.finish(.orderly(lingering: true))
        }
    }

    /// Sends a message back, or closes the connection if the behaviour's `drop` is reached.
    private func echo(_ message: WebSocketMessage, _ connection: some EchoWire) throws(WebSocketError) {
        var octets = message.octets
        if message.isCompressed, let inflater {
            do throws(CodingError) {
                octets = try inflater.inflate(octets.span, limit: WebSocketBehaviour.messageLimit)
            } catch { throw .invalidCompression }
        }
        messageCount += 1
        if codec.maySend { send(message.kind, octets, &connection.output) }
        guard let drop = behaviour.drop, messageCount >= drop else { return }
        isOver = true
        connection.finish(.abandoned)
    }

    /// Sends a message, compressed and in fragments as the behaviour demands.
    private func send(_ kind: WebSocketMessage.Kind, _ octets: [UInt8], _ output: inout [UInt8]) {
        var payload = octets
        if let deflater {
            payload = []
            deflater.deflate(octets.span, into: &payload)
        }
        let size = max(behaviour.fragment ?? payload.count, (payload.count + 0xFFFF) >> 16, 1)
        var start = 0
        repeat {
            let end = min(payload.count, start + size)
            codec.send(
                kind, payload.span.extracting(start..<end), isFinal: end == payload.count,
                isCompressed: deflater != nil && start == 0, mask: nil, into: &output)
            start = end
        } while start < payload.count
    }

    /// Answers a close frame, and ends the transport if both close frames have been exchanged.
    private func answerClose(_ closure: WebSocketCloseFrame, _ connection: some EchoWire) {
        let actions = codec.close(.received(closure), mask: nil, into: &connection.output)
        switch actions.connection {
        case .keep: break
        case .close, .closeWhenSent:
            isOver = true
            connection.finish(.orderly(lingering: true))
        }
    }
}
