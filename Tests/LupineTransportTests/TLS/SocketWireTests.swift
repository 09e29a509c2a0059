// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

@testable import LupineTransport

/// What a socket that carries TLS does at its end: last words arrive, whether or not they waited for the end of our half.
@Suite struct SocketWireTests {
    /// What the peer reads when the wire has sent and closed: all the bytes, and how they end.
    private func lastWords(unread: [UInt8], isDrained: Bool) throws -> (
        bytes: [UInt8], end: Result<Bool, Errno>
    ) {
        let (near, far) = try connectedPair(.loopback)
        let peer = far.take()
        if !unread.isEmpty { _ = try peer.send(unread.span) }
        let wire = SocketWire(near.take(), isDrained: isDrained)
        let first: [UInt8] = [1, 2, 3]
        #expect(wire.send(first.span) == .bytes(3))
        wire.willClose()
        let last: [UInt8] = [4, 5]
        #expect(wire.send(last.span) == .bytes(2))
        wire.close()
        var bytes: [UInt8] = []
        while true {
            var room = [UInt8](repeating: 0, count: 16)
            var span = room.mutableSpan
            do throws(Errno) {
                switch try peer.receive(into: &span) {
                case .bytes(let count): bytes += room.prefix(count)
                case .wouldBlock: break
                case .end: return (bytes, .success(true))
                }
            } catch { return (bytes, .failure(error)) }
        }
    }

    @Test func whatWaitedForTheEndArrivesBeforeIt() throws {
        let heard = try lastWords(unread: [], isDrained: true)
        #expect(heard.bytes == [1, 2, 3, 4, 5])
        #expect(heard.end == .success(true))
    }

    /// The kernel drops what it holds when bytes were left unread, and what it has sent it has sent.
    @Test func nothingWaitsWhereBytesAreUnread() throws {
        let heard = try lastWords(unread: [9], isDrained: false)
        #expect(heard.bytes == [1, 2, 3, 4, 5])
        #expect(heard.end == .failure(.connectionReset))
    }
}
