// SPDX-License-Identifier: MIT

package import LupineTransport

/// The bytes of one client, whatever carries them: plain sockets here, a TLS engine over one in the same place.
///
/// On its loop. The connection calls `receive` and `send` on any readiness until they would block, in both
/// directions, so that a channel which has to write in order to read (a handshake, a key update) does so inside either call
/// and says `wouldBlock` until there is something for the connection. Content that a channel has decrypted and not
/// handed out is asked for again without a new readiness.
package protocol ClientChannel: AnyObject {
    /// Watches the descriptor underneath for `owner`.
    func register(with loop: EventLoop, for owner: any LoopChannel) throws(Errno) -> Registration
    /// Receives into the free part of `buffer`, which has some.
    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome
    /// Sends the beginning of both pieces, in one call where that is possible.
    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome
    /// Sends the end of this half.
    func shutdownWrite() throws(Errno)
    /// Closes in order.
    func close()
    /// Closes with a reset.
    func reset()
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

    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        guard let outcome = try socket?.receive(into: &buffer) else { throw .brokenPipe }
        return outcome
    }

    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome {
        let outcome =
            second.isEmpty ? try socket?.send(first) : try socket?.send(first, second)
        guard let outcome else { throw .brokenPipe }
        return outcome
    }

    func shutdownWrite() throws(Errno) { try socket?.shutdownWrite() }

    func close() { socket = nil }

    func reset() {
        guard let socket = socket.take() else { return }
        try? socket.reset()
    }
}

extension Socket {
    fileprivate borrowing func registered(
        with loop: EventLoop, _ owner: any LoopChannel
    ) throws(Errno) -> Registration {
        try loop.register(descriptor, owner)
    }
}
