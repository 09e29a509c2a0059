// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// One stream after HTTP: octets from and to an `UpgradeHandler`, in DATA frames (RFC 8441 §5).
///
/// The stream has it until it ends, and gives it its turns; the exchange that opened it is over. END_STREAM is what the end of
/// a half is on a connection, RST_STREAM what a reset is. A handler that takes no more stops the stream's window and nothing
/// else.
final class HTTP2Tunnel: UpgradedChannel {
    private let connection: HTTP2Connection
    private let stream: HTTP2Stream
    /// Who hears of it; nil once nobody does.
    var handler: (any UpgradeHandler)?
    /// What waits behind the piece that is being sent.
    private var waiting: [UInt8] = []
    /// Something of it has left the stream and has not been given to the kernel.
    private var isWriting = false
    /// All that the peer has said has been passed on, and it says no more.
    var peerHasEnded = false
    private var drainedIsDue = false

    init(_ stream: HTTP2Stream, of connection: HTTP2Connection) {
        self.stream = stream
        self.connection = connection
    }

    /// Whether octets may still go out.
    private var takesOutput: Bool {
        connection.isCarrying(stream) && connection.life == .open && connection.writeFailure == nil
            && stream.isSending && !peerHasEnded
    }

    /// How many octets have not been given to the kernel; 1 stands for those that have left the stream.
    private var unsent: Int {
        if case .piece(let bytes, let from, _) = stream.feed.state {
            return bytes.count - from + waiting.count
        }
        return max(waiting.count, isWriting ? 1 : 0)
    }

    // MARK: the handler's side

    func sendUpgraded(_ bytes: [UInt8]) -> Int? {
        guard takesOutput else { return nil }
        waiting += bytes
        connection.wakeTunnel(stream)
        return unsent
    }

    func resumeUpgraded() {
        // In a turn of its own: the handler may be in the middle of `received`.
        connection.loop.executeOnLoop { self.connection.resume(self.stream.exchange) }
    }

    func closeUpgraded() {
        handler = nil
        connection.fail(stream, .cancelled)
    }

    // MARK: the connection's side

    func received(_ bytes: Span<UInt8>) -> Demand {
        guard let handler else { return .enough }
        let demand = handler.received(bytes)
        if case .enough = demand { self.handler = nil }
        return demand
    }

    /// What is to be sent next; nil for nothing.
    func next() -> [UInt8]? {
        guard !waiting.isEmpty else { return nil }
        isWriting = true
        var bytes: [UInt8] = []
        swap(&bytes, &waiting)
        return bytes
    }

    /// All that has left the stream has been given to the kernel.
    func wrote() {
        isWriting = false
        guard unsent == 0, !drainedIsDue else { return }
        drainedIsDue = true
        // In a step of its own: a handler that answers by sending more would otherwise grow the stack.
        connection.loop.executeOnLoop {
            self.drainedIsDue = false
            if self.unsent == 0 { self.handler?.drained() }
        }
    }

    /// The stream is over; nothing was wrong where `error` is nil.
    func ended(_ error: TransportError?) {
        stream.tunnel = nil
        handler.take()?.closed(error)
    }
}

/// Stands where content that is made as it goes has its source. A tunnel's is asked for nothing.
final class TunnelSource: ContentSource {
    var isReplayable: Bool { true }
    func rewind() -> Bool { true }
    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {}
    func abandon() {}

    static let shared = TunnelSource()
}
