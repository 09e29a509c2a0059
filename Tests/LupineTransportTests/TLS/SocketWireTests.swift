// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

@testable import LupineTransport

/// The closing of a socket that carries TLS: its last bytes arrive, whether or not they were held back for the end.
@Suite struct SocketWireTests {
    /// Sends over the wire and closes it; returns the bytes that the peer reads, and their end.
    private func closeAndRead(unread: [UInt8], isDrained: Bool) throws -> (
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

    @Test func heldBackBytesArriveBeforeTheEnd() throws {
        let result = try closeAndRead(unread: [], isDrained: true)
        #expect(result.bytes == [1, 2, 3, 4, 5])
        #expect(result.end == .success(true))
    }

    /// Closing with unread bytes makes the kernel drop what it still holds; the bytes that it has already sent arrive.
    @Test func nothingIsHeldBackIfBytesAreUnread() throws {
        let result = try closeAndRead(unread: [9], isDrained: false)
        #expect(result.bytes == [1, 2, 3, 4, 5])
        #expect(result.end == .failure(.connectionReset))
    }
}
