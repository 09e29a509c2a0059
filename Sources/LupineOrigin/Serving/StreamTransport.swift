// SPDX-License-Identifier: MIT

/// The octets of a stream that carries a web socket. Part of an `OriginStream`; `HTTP2Conversation` moves the octets.
final class StreamTransport: WebSocketTransport {
    let echo: WebSocketEcho
    var output: [UInt8] = []
    var hasPeerEnded = false
    /// The number of octets that already wait on the stream, ahead of `output`.
    var backlog = 0
    /// The number of consumed octets that have not been returned to the windows.
    var unreturned = 0
    private(set) var isOver = false
    private var input = InputBuffer()

    private static let pendingOutputLimit = 64 << 10

    init(_ echo: WebSocketEcho) { self.echo = echo }

    var hasOutputRoom: Bool { backlog + output.count < Self.pendingOutputLimit }

    var inputCount: Int { input.count }

    /// Appends received octets to the input. After the end they are dropped.
    func receive(_ octets: Span<UInt8>) {
        if isOver {
            unreturned += octets.count
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
        unreturned += count
    }

    func finish(_ ending: ServerConnection.Ending) {
        isOver = true
        consume(inputCount)
    }
}
