// SPDX-License-Identifier: MIT

package import LupineTransport

/// The byte stream of one client: a plain socket (`PlainChannel`), or TLS over another channel (`TLSChannel`).
///
/// Used on its loop only. When the socket becomes readable or writable, the connection calls `establish` until it returns true.
/// Afterwards the connection calls both `receive` and `send` when the socket becomes readable or writable, until they would
/// block. A channel that has to write in order to read (for a TLS key update) can therefore do so inside either call, and returns
/// `wouldBlock` until it has content. The connection calls `receive` again for content that is already decrypted, without waiting
/// for the socket.
package protocol ClientChannel: AnyObject {
    /// Registers the underlying descriptor with the loop, which reports events to `owner`.
    func register(with loop: EventLoop, for owner: any LoopChannel) throws(Errno) -> Registration
    /// Performs the TLS handshake, if there is one. Returns false while the handshake waits for the client.
    func establish() throws(Errno) -> Bool
    /// Receives into `buffer`, which is empty and has capacity.
    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome
    /// Sends as much of both spans as possible, in one system call if the channel can. With two empty spans it sends only the
    /// channel's pending output, and returns `wouldBlock` until all of that output is sent.
    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome
    /// Ends the content with a close_notify, over TLS only. Returns whether it has produced a close_notify, which may be pending
    /// output. The socket stays open.
    func endContent() -> Bool
    /// Closes the origin's half of the connection when the pending output is sent.
    func shutdownWrite() throws(Errno)
    /// Closes the channel; over TLS after a close_notify.
    func close()
    /// Closes the socket without a reset and without a close_notify.
    func closeWithoutNotify()
    /// Closes the socket with a reset.
    func reset()
    /// Whether the channel has produced output that the socket has not accepted.
    var hasPendingOutput: Bool { get }
    /// Whether the socket is known to be empty after a `receive` that has not filled its buffer.
    var shortReceiveEmptiesSocket: Bool { get }
    /// Whether the channel has failed, and has sent an alert before. The client should be able to read the alert, so the socket
    /// should not be reset.
    var hasSentAlert: Bool { get }
    /// The outcome of the TLS handshake; nil without TLS.
    var tls: OriginHandshake? { get }
    /// Whether the client has requested a TLS renegotiation, which OpenSSL has refused.
    var hasRefusedRenegotiation: Bool { get }
}

/// The byte stream of a client on a plain socket.
final class PlainChannel: ClientChannel {
    /// The socket; nil after the channel has closed. Releasing it closes the descriptor.
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
        // The system call could report a failure of the socket, which only a send of content should report.
        if first.isEmpty, second.isEmpty { return .bytes(0) }
        let outcome =
            second.isEmpty ? try socket?.send(first) : try socket?.send(first, second)
        guard let outcome else { throw .brokenPipe }
        return outcome
    }

    func endContent() -> Bool { false }

    func shutdownWrite() throws(Errno) { try socket?.shutdownWrite() }

    func close() { socket = nil }

    func closeWithoutNotify() { socket = nil }

    func reset() {
        guard let socket = socket.take() else { return }
        // After an error, the release of the socket closes it without a reset.
        try? socket.reset()
    }

    var hasPendingOutput: Bool { false }

    var shortReceiveEmptiesSocket: Bool { true }

    var hasSentAlert: Bool { false }

    var tls: OriginHandshake? { nil }

    var hasRefusedRenegotiation: Bool { false }
}

extension Socket {
    /// Registers the socket's descriptor with the loop. The function extends `Socket`, because only a method of `Socket` can
    /// borrow the descriptor.
    fileprivate borrowing func registered(
        with loop: EventLoop, _ owner: any LoopChannel
    ) throws(Errno) -> Registration {
        try loop.register(descriptor, owner)
    }
}
