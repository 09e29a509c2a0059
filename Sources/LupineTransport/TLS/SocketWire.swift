// SPDX-License-Identifier: MIT

import LupineTLS

/// TLS's ciphertext over a socket.
///
/// A read that did not fill its room has emptied the socket: the next one is answered without asking the kernel, until
/// the loop tells of new readiness. A peer's end comes without bytes, so after the news of it nothing is taken for empty.
/// It belongs to its loop.
final class SocketWire: ChannelWire {
    private var socket: Socket?
    private(set) var isDrained: Bool
    private var isClosing = false
    /// What is sent goes with the end of our half, in one packet.
    private var holdsForEnd = false
    private(set) var octetsSent: UInt64 = 0
    private(set) var failure: ChannelFailure?

    /// Takes over a connected socket. `isDrained` where nothing can have come, or the loop will tell.
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

    /// A socket that is closed with bytes unread is reset, and loses what it held back.
    func willClose() { holdsForEnd = isDrained }

    var hasPendingOutput: Bool { false }
    func flush() {}
    /// Refused only for a socket whose peer is gone, which reading tells.
    func closeWriting() { try? socket?.shutdownWrite() }
    func close() { socket = nil }
    func probe(_ probes: KeepAliveProbes) { try? socket?.setKeepAlive(probes) }
    var octetsAcknowledged: UInt64? { socket?.octetsAcknowledged }
    var localAddress: SocketAddress? { (try? socket?.localAddress()) ?? nil }
}
