// SPDX-License-Identifier: MIT

import LupineTLS

/// A socket as the wire of a TLS channel.
///
/// A read that does not fill its buffer has emptied the socket. The next read then returns `wouldBlock` without a system call,
/// until the loop reports new readiness. After the loop has reported that the peer has closed its end, a short read does not
/// count as that: a further read must find the end of the stream. Confined to its loop.
final class SocketWire: ChannelWire {
    /// The socket; nil once closed.
    private var socket: Socket?
    private(set) var isDrained: Bool
    /// Whether the loop has reported that the peer has closed its end.
    private var isClosing = false
    /// Whether `send` lets the kernel hold octets back (`MSG_MORE`), so that they leave in one packet with the end of the stream.
    private var holdsOctetsForEnd = false
    private(set) var octetsSent: UInt64 = 0
    private(set) var failure: ChannelFailure?

    /// Takes ownership of a connected socket. `isDrained` says that the socket has no input that the loop has already reported.
    init(_ socket: consuming Socket, isDrained: Bool) {
        self.socket = consume socket
        self.isDrained = isDrained
    }

    func receive(into output: inout OutputSpan<UInt8>) -> TLSWireOutcome {
        if isDrained { return .wouldBlock }
        let room = output.freeCapacity
        do throws(Errno) {
            switch try socket?.receive(into: &output) {
            case .bytes(let count)?:
                // A short read has emptied the socket, but the end of the stream may still have to be read.
                if count < room, !isClosing { isDrained = true }
                return .bytes(count)
            case .wouldBlock?:
                isDrained = true
                return .wouldBlock
            case .end?: return .end
            case nil: return fail(.canceled)
            }
        } catch { return fail(error) }
    }

    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome {
        do throws(Errno) {
            switch try socket?.send(bytes, more: holdsOctetsForEnd) {
            case .bytes(let count)?:
                octetsSent &+= UInt64(count)
                return .bytes(count)
            case .wouldBlock?: return .wouldBlock
            case nil: return fail(.canceled)
            }
        } catch { return fail(error) }
    }

    /// Stores the error as `failure`, and returns the outcome `failed`.
    private func fail(_ error: Errno) -> TLSWireOutcome {
        failure = .system(error)
        return .failed
    }

    func becameReadable(isClosing: Bool) {
        isDrained = false
        if isClosing { self.isClosing = true }
    }

    /// Lets the kernel hold octets back only if all input has been read. Otherwise the kernel resets the connection on close, and
    /// the octets that it holds are lost.
    func willClose() { holdsOctetsForEnd = isDrained }

    /// False: octets that the kernel does not accept stay with the caller of `send`.
    var hasPendingOutput: Bool { false }
    func flush() {}
    /// Ignores an error: ending the half fails only if the peer is gone, which reading reports.
    func closeWriting() { try? socket?.shutdownWrite() }
    /// Releases the socket; its `deinit` closes the descriptor.
    func close() { socket = nil }
    func setKeepAlive(_ probes: KeepAliveProbes) { try? socket?.setKeepAlive(probes) }
    var octetsAcknowledged: UInt64? { socket?.octetsAcknowledged }
    var localAddress: SocketAddress? { try? socket?.localAddress() }
}
