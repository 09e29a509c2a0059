// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// The tunnel on one stream after an upgrade: its DATA frames carry the octets of an `UpgradeHandler` (RFC 8441 §5).
///
/// The stream owns the tunnel until its end. When the stream may send, the connection moves octets from the tunnel to the stream.
/// The exchange that opened the tunnel has ended. END_STREAM corresponds to a TCP FIN, RST_STREAM to a TCP reset. A handler that
/// pauses closes only the window of the stream; the connection still reads.
final class HTTP2Tunnel: UpgradedChannel {
    private let connection: HTTP2Connection
    private let stream: HTTP2Stream
    /// The handler; nil once it must not be called.
    var handler: (any UpgradeHandler)?
    /// Octets of the handler that are to be sent after those in the stream's `feed`.
    private var waitingOctets: [UInt8] = []
    /// Whether octets taken from `waitingOctets` have not been accepted by the kernel yet.
    private var isWriting = false
    /// Whether the peer has ended its half, and all its octets have been delivered.
    var peerHasEnded = false
    /// Whether a call of the handler's `drained` is scheduled.
    private var isDrainedCallScheduled = false

    init(_ stream: HTTP2Stream, of connection: HTTP2Connection) {
        self.stream = stream
        self.connection = connection
    }

    /// Whether octets may still be sent.
    private var acceptsOutput: Bool {
        connection.isCarrying(stream) && connection.life == .open && connection.writeFailure == nil
            && stream.isSending && !peerHasEnded
    }

    /// The number of octets that the kernel has not accepted. The number in the connection's output is unknown, and counts as 1.
    private var unsentOctets: Int {
        if case .piece(let bytes, let from, _) = stream.feed.state {
            return bytes.count - from + waitingOctets.count
        }
        return max(waitingOctets.count, isWriting ? 1 : 0)
    }

    // MARK: the handler's side
    // `UpgradedConnection` documents what these methods do and return.

    func sendUpgraded(_ bytes: [UInt8]) -> Int? {
        guard acceptsOutput else { return nil }
        waitingOctets += bytes
        connection.wakeTunnel(stream)
        return unsentOctets
    }

    func resumeUpgraded() {
        // This runs in a separate loop job: the handler may be inside `received`.
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

    /// Removes and returns the octets to send next; nil if there are none.
    func removeWaitingOctets() -> [UInt8]? {
        guard !waitingOctets.isEmpty else { return nil }
        isWriting = true
        var bytes: [UInt8] = []
        swap(&bytes, &waitingOctets)
        return bytes
    }

    /// Called when the kernel has accepted all output of the connection.
    func outputWasWritten() {
        isWriting = false
        guard unsentOctets == 0, !isDrainedCallScheduled else { return }
        isDrainedCallScheduled = true
        // This runs in a separate loop job: a handler that sends more from `drained` would otherwise grow the stack.
        connection.loop.executeOnLoop {
            self.isDrainedCallScheduled = false
            if self.unsentOctets == 0 { self.handler?.drained() }
        }
    }

    /// Called when the stream has ended; `error` is nil for an orderly end.
    func streamEnded(_ error: TransportError?) {
        stream.tunnel = nil
        handler.take()?.closed(error)
    }
}

/// A placeholder where `ContentFeed.State` needs a content source. The connection gets a tunnel's octets from `HTTP2Tunnel`, and
/// never asks this source.
final class TunnelSource: ContentSource {
    var isReplayable: Bool { true }
    func rewind() -> Bool { true }
    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {}
    func abandon() {}

    static let shared = TunnelSource()
}
