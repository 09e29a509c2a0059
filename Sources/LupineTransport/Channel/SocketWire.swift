// SPDX-License-Identifier: MIT

import LupineTLS

/// A socket as the wire of a TLS channel.
///
/// A read that did not fill its buffer has emptied the socket: the next one returns `wouldBlock` without a system call, until the
/// loop reports new readiness. The peer's end comes without bytes, so after it has been reported no short read counts as empty.
/// Confined to its loop.
final class SocketWire: ChannelWire {
    private var socket: Socket?
    private(set) var isDrained: Bool
    private var isClosing = false
    /// Whether sent octets are held back to leave with the end of the stream, in one packet.
    private var holdsForEnd = false
    private(set) var octetsSent: UInt64 = 0
    private(set) var failure: ChannelFailure?

    /// Takes ownership of a connected socket. `isDrained` if there can be no input that the loop will not report.
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

    /// Nothing is held back if there may be unread input: the close then resets the connection, and held octets would be lost.
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
