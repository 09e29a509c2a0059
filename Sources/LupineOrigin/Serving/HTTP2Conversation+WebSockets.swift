// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2

/// Streams that become web sockets (RFC 8441 §5).
extension HTTP2Conversation {
    /// Accepts a web socket on its stream. Returns the refusal if its request is not valid.
    func acceptWebSocket(
        _ behaviour: WebSocketBehaviour, _ head: RequestHead, on stream: OriginStream
    ) throws(Refusal) -> OriginResponse? {
        let acceptance: WebSocketServerHandshake
        do throws(WebSocketError) {
            acceptance = try WebSocketServerHandshake(
                head, subprotocols: behaviour.subprotocols, allowsCompression: behaviour.deflates)
        } catch { return OriginResponse(refusing: error) }
        send(acceptance.response, on: stream)
        stream.reply = .streaming(nil)
        stream.socket = StreamWire(WebSocketEcho(behaviour, acceptance.agreement))
        advanceWebSocket(on: stream)
        return nil
    }

    /// Handles a web socket's input as far as there is space for output, and queues the output.
    func advanceWebSocket(on stream: OriginStream) {
        guard let wire = stream.socket, streams[stream.id] === stream else { return }
        wire.backlog = stream.content.count - stream.contentStart
        while !wire.isOver, wire.echo.advance(over: wire) {}
        let unreturned = wire.unreturned
        wire.unreturned = 0
        if unreturned > 0 { machine.consumed(unreturned, on: stream.id) }
        if stream.contentStart == stream.content.count {
            stream.content = []
            stream.contentStart = 0
        }
        stream.content += wire.output
        wire.output.removeAll(keepingCapacity: true)
        if wire.isOver, stream.trailers == nil { stream.trailers = Fields() }
        enqueue(stream)
    }
}
