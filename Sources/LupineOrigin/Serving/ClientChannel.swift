// SPDX-License-Identifier: MIT

package import LupineTransport

/// The bytes of one client, whatever carries them: a plain socket (`PlainChannel`), or TLS over another channel
/// (`TLSChannel`).
///
/// On its loop. The connection calls `establish` on any readiness until it says yes. From then on it calls `receive` and
/// `send` on any readiness until they would block, in both directions, so that a channel which has to write in order to
/// read (a key update) does so inside either call and says `wouldBlock` until there is something for the connection.
/// Content that a channel has decrypted and not handed out is asked for again without a new readiness.
package protocol ClientChannel: AnyObject {
    /// Watches the descriptor underneath for `owner`.
    func register(with loop: EventLoop, for owner: any LoopChannel) throws(Errno) -> Registration
    /// Does what comes before all content, a handshake; false when that has to wait for the client.
    func establish() throws(Errno) -> Bool
    /// Receives into `buffer`, which is empty and has room.
    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome
    /// Sends the beginning of both pieces, in one call where that is possible. With two empty pieces it sends only what the
    /// channel holds: `wouldBlock` until all of that is gone.
    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome
    /// Says that no more content comes, where the protocol has a word for it (close_notify), and whether there was anything
    /// to say. It may be held; the socket stays open.
    func endContent() -> Bool
    /// Sends the end of this half.
    func shutdownWrite() throws(Errno)
    /// Closes in order.
    func close()
    /// Closes the socket in order and without the end that its protocol has (close_notify).
    func abandon()
    /// Closes with a reset.
    func reset()
    /// Whether it keeps bytes that `send` has taken and the socket has not.
    var holdsOutput: Bool { get }
    /// Whether a `receive` that leaves room free has taken all that had come.
    var emptiesSocket: Bool { get }
    /// After a thrown error: whether the last that was sent (an alert) is for the client to read, so that the socket
    /// should not be reset behind it.
    var hasLastWord: Bool { get }
    /// What the handshake came to; nil without one.
    var tls: OriginHandshake? { get }
    /// Whether the client has asked for another handshake, and was refused.
    var hasRefusedRenegotiation: Bool { get }
}

/// The bytes of a client on a plain socket.
final class PlainChannel: ClientChannel {
    private var socket: Socket?

    /// Takes over an accepted socket.
    init(_ socket: consuming Socket) { self.socket = consume socket }

    func register(with loop: EventLoop, for owner: any LoopChannel) throws(Errno) -> Registration {
        guard let registration = try socket?.registered(with: loop, owner) else { throw .brokenPipe }
        return registration
    }

    func establish() throws(Errno) -> Bool { true }

    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        guard let outcome = try socket?.receive(into: &buffer) else { throw .brokenPipe }
        return outcome
    }

    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome {
        // A send of nothing could still find out that the socket has failed: that is for those who have something.
        if first.isEmpty, second.isEmpty { return .bytes(0) }
        let outcome =
            second.isEmpty ? try socket?.send(first) : try socket?.send(first, second)
        guard let outcome else { throw .brokenPipe }
        return outcome
    }

    func endContent() -> Bool { false }

    func shutdownWrite() throws(Errno) { try socket?.shutdownWrite() }

    func close() { socket = nil }

    func abandon() { socket = nil }

    func reset() {
        guard let socket = socket.take() else { return }
        try? socket.reset()
    }

    var holdsOutput: Bool { false }

    var emptiesSocket: Bool { true }

    var hasLastWord: Bool { false }

    var tls: OriginHandshake? { nil }

    var hasRefusedRenegotiation: Bool { false }
}

extension Socket {
    fileprivate borrowing func registered(
        with loop: EventLoop, _ owner: any LoopChannel
    ) throws(Errno) -> Registration {
        try loop.register(descriptor, owner)
    }
}
