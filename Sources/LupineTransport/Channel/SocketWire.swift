// SPDX-License-Identifier: MIT

import LupineTLS

/// A socket as the wire of a TLS channel.
///
/// A read that does not fill its buffer has emptied the socket, so the next read returns `wouldBlock` without a system call,
/// until the loop reports new readiness. Once the loop has reported that the peer has closed, this does not hold: the end of the
/// stream follows the last bytes. Confined to its loop.
final class SocketWire: ChannelWire {
    /// The socket; nil once closed.
    private var socket: Socket?
    private(set) var isDrained: Bool
    /// Whether the loop has reported that the peer has closed its end.
    private var isClosing = false
    /// Whether the kernel holds sent octets back (`MSG_MORE`), so that they leave in one packet with the end of the stream.
    private var holdsForEnd = false
    private(set) var octetsSent: UInt64 = 0
    private(set) var failure: ChannelFailure?

    /// Takes ownership of a connected socket. `isDrained` says that the loop will report all further input.
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
            switch try socket?.send(bytes, more: holdsForEnd) {
            case .bytes(let count)?:
                octetsSent &+= UInt64(count)
                return .bytes(count)
            case .wouldBlock?: return .wouldBlock
            case nil: return fail(.canceled)
            }
        } catch { return fail(error) }
    }

    private func fail(_ error: Errno) -> TLSWireOutcome {
        failure = .system(error)
        return .failed
    }

    func becameReadable(isClosing: Bool) {
        isDrained = false
        if isClosing { self.isClosing = true }
    }

    /// Holds nothing back if there may be unread input: the kernel then resets the connection on close, and drops held octets.
    func willClose() { holdsForEnd = isDrained }

    var hasPendingOutput: Bool { false }
    func flush() {}
    /// Fails only if the peer is gone, which reading reports.
    func closeWriting() { try? socket?.shutdownWrite() }
    func close() { socket = nil }
    func setKeepAlive(_ probes: KeepAliveProbes) { try? socket?.setKeepAlive(probes) }
    var octetsAcknowledged: UInt64? { socket?.octetsAcknowledged }
    var localAddress: SocketAddress? { (try? socket?.localAddress()) ?? nil }
}
