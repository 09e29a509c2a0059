// SPDX-License-Identifier: MIT

/// The transport of a web socket over an HTTP/2 stream. Part of an `OriginStream`. `HTTP2Conversation` moves the octets between
/// the stream and the transport.
final class StreamTransport: WebSocketTransport {
    /// The web socket that uses this transport.
    let echo: WebSocketEcho
    var output: [UInt8] = []
    var hasPeerEnded = false
    /// The number of octets of the stream's content that wait to be sent, ahead of `output`.
    var queuedCount = 0
    /// The number of consumed octets that have not been returned to the flow-control windows.
    var unreturnedOctets = 0
    /// Whether the web socket has ended the transport.
    private(set) var isOver = false
    private var input = InputBuffer()

    /// The number of octets that wait to be sent at which the web socket stops producing more.
    private static let pendingOutputLimit = 64 << 10

    init(_ echo: WebSocketEcho) { self.echo = echo }

    var hasOutputRoom: Bool { queuedCount + output.count < Self.pendingOutputLimit }

    var inputCount: Int { input.count }

    /// Appends received octets to the input, or drops them if the transport has ended.
    func receive(_ octets: Span<UInt8>) {
        if isOver {
            // The flow-control windows get back dropped octets too.
            unreturnedOctets += octets.count
        } else {
            input.append(octets)
        }
    }

    func withInput<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A copy, because `body` may consume octets.
        let snapshot = input
        return try snapshot.withOctets(body)
    }

    func consume(_ count: Int) {
        input.consume(count)
        unreturnedOctets += count
    }

    /// Ends the transport and drops its input. The stream ends in the same way, whatever `ending` is.
    func finish(_ ending: ServerConnection.Ending) {
        isOver = true
        consume(inputCount)
    }
}
