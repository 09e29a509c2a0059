// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2

/// Streams that become web sockets (RFC 8441 §5).
extension HTTP2Conversation {
    /// Accepts a web socket on its stream. Returns nil if it has accepted, or the response to an invalid handshake.
    func acceptWebSocket(
        _ behaviour: WebSocketBehaviour, _ head: RequestHead, on stream: OriginStream
    ) throws(Refusal) -> OriginResponse? {
        let acceptance: WebSocketServerHandshake
        do throws(WebSocketError) {
            acceptance = try WebSocketServerHandshake(
                head, subprotocols: behaviour.subprotocols, allowsCompression: behaviour.acceptsCompression)
        } catch { return OriginResponse(refusing: error) }
        send(acceptance.response, on: stream)
        // The output of the web socket is the content of the response.
        stream.responseState = .streaming(nil)
        stream.webSocket = StreamTransport(WebSocketEcho(behaviour, acceptance.agreement))
        advanceWebSocket(on: stream)
        return nil
    }

    /// Advances a web socket as far as there is space for output, and queues its output. Has no effect on other streams.
    func advanceWebSocket(on stream: OriginStream) {
        guard let transport = stream.webSocket, streams[stream.id] === stream else { return }
        // The transport counts the stream's unsent content as output that waits.
        transport.queuedCount = stream.content.count - stream.contentStart
        while !transport.isOver, transport.echo.advance(over: transport) {}
        // Returns the consumed octets to the flow-control windows.
        let unreturnedOctets = transport.unreturnedOctets
        transport.unreturnedOctets = 0
        if unreturnedOctets > 0 { machine.consumed(unreturnedOctets, on: stream.id) }
        // Removes content that has been sent, so that the array does not grow with each message.
        if stream.contentStart == stream.content.count {
            stream.content = []
            stream.contentStart = 0
        }
        stream.content += transport.output
        transport.output.removeAll(keepingCapacity: true)
        // Empty trailers end the stream after the content.
        if transport.isOver, stream.trailers == nil { stream.trailers = Fields() }
        enqueue(stream)
    }
}
