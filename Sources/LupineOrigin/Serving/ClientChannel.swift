// SPDX-License-Identifier: MIT

package import LupineTransport

/// Transports the bytes of one client: a plain socket (`PlainChannel`), or TLS over another channel
/// (`TLSChannel`).
///
/// On its loop. The connection calls `establish` on any readiness until it returns true. From then on it calls `receive` and
/// `send` on any readiness until they would block, in both directions, so that a channel which has to write in order to
/// read (a key update) does so inside either call and returns `wouldBlock` until it has content for the connection.
/// The connection receives content that a channel has decrypted but not delivered without waiting for a new readiness.
package protocol ClientChannel: AnyObject {
    /// Registers the underlying descriptor with `loop` for `owner`.
    func register(with loop: EventLoop, for owner: any LoopChannel) throws(Errno) -> Registration
    /// Performs the handshake that precedes all content; returns false when it has to wait for the client.
    func establish() throws(Errno) -> Bool
    /// Receives into `buffer`, which is empty and has room.
    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome
    /// Sends the beginning of both pieces, in one call where that is possible. With two empty pieces it sends only what the
    /// channel holds: `wouldBlock` until all of that is gone.
    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome
    /// Announces the end of content if the protocol can (close_notify), and returns whether it did so. The channel may buffer the
    /// announcement; the socket stays open.
    func endContent() -> Bool
    /// Shuts down the sending half of the socket.
    func shutdownWrite() throws(Errno)
    /// Closes the socket in order.
    func close()
    /// Closes the socket in order, without sending close_notify.
    func abandon()
    /// Closes the socket with a reset.
    func reset()
    /// Whether the channel buffers bytes that `send` has accepted but the socket has not.
    var holdsOutput: Bool { get }
    /// Whether a `receive` that does not fill the buffer has read everything from the socket.
    var emptiesSocket: Bool { get }
    /// After a thrown error: whether an alert was sent that the client should be able to read, so that the socket must not be
    /// reset.
    var hasLastWord: Bool { get }
    /// The result of the handshake; nil without one.
    var tls: OriginHandshake? { get }
    /// Whether the client has requested a renegotiation, which was refused.
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
        // Sending nothing could still report that the socket has failed; only a send with content should report it.
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
