// SPDX-License-Identifier: MIT

package import LupineTransport

/// The byte stream of one client: a plain socket (`PlainChannel`), or TLS over another channel (`TLSChannel`).
///
/// Used on its loop only. The connection calls `establish` on any readiness until it returns true. Afterwards it calls both
/// `receive` and `send` on any readiness, until they would block. A channel that has to write in order to read (a key update)
/// can therefore do so inside either call, and returns `wouldBlock` until it has content. The connection calls `receive` again
/// for content that is already decrypted, without waiting for another readiness.
package protocol ClientChannel: AnyObject {
    /// Registers the underlying descriptor with the loop for `owner`.
    func register(with loop: EventLoop, for owner: any LoopChannel) throws(Errno) -> Registration
    /// Performs the handshake, if there is one. Returns false while it waits for the client.
    func establish() throws(Errno) -> Bool
    /// Receives into `buffer`, which is empty and has capacity.
    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome
    /// Sends as much of both pieces as possible, in one system call if it can. With two empty pieces it sends only the output
    /// that the channel holds, and returns `wouldBlock` until all of that is sent.
    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome
    /// Ends the content, if the protocol has a message for that (close_notify). Returns whether it produced one, which the
    /// channel may hold. The socket stays open.
    func endContent() -> Bool
    /// Closes the origin's half, after the output that the channel holds.
    func shutdownWrite() throws(Errno)
    /// Closes the channel, with the protocol's end (close_notify).
    func close()
    /// Closes the socket without a reset and without the protocol's end (close_notify).
    func abandon()
    /// Closes the socket with a reset.
    func reset()
    /// Whether the channel holds output that the socket has not accepted.
    var hasPendingOutput: Bool { get }
    /// Whether a `receive` that leaves space in its buffer has read all that the socket holds.
    var emptiesSocket: Bool { get }
    /// Whether the channel has sent an alert before it threw an error. The client should be able to read the alert, so the socket
    /// should not be reset.
    var hasSentAlert: Bool { get }
    /// The outcome of the handshake; nil without one.
    var tls: OriginHandshake? { get }
    /// Whether the client has requested a renegotiation, which was refused.
    var hasRefusedRenegotiation: Bool { get }
}

/// The byte stream of a client on a plain socket.
final class PlainChannel: ClientChannel {
    private var socket: Socket?

    /// Creates a channel that owns an accepted socket.
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
        // An empty send could still report that the socket has failed; only a send of content should.
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

    var hasPendingOutput: Bool { false }

    var emptiesSocket: Bool { true }

    var hasSentAlert: Bool { false }

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
