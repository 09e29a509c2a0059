// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests that no sent frame is longer than the peer's SETTINGS_MAX_FRAME_SIZE (RFC 9113 §4.2, §4.3).
@Suite struct FrameSizeTests {
    typealias Wire = WireFrames

    /// Returns the frame headers found in the octets.
    private static func frames(_ octets: [UInt8]) -> [(type: UInt8, flags: UInt8, count: Int, stream: UInt8)]
    {
        var found: [(type: UInt8, flags: UInt8, count: Int, stream: UInt8)] = []
        var unread = octets[...]
        while unread.count >= 9 {
            let head = Array(unread.prefix(9))
            let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            found.append((head[3], head[4], count, head[8]))
            unread = unread.dropFirst(9 + count)
        }
        return found
    }

    /// Fields whose block needs several frames: the Huffman code does not shorten their values.
    private static let long = (0..<50).map { ("x-\($0)", String(repeating: "~", count: 1_000)) }

    /// The sizes that a peer sets, one after the other.
    static let sizes: [[UInt32]] = [[], [16_385], [20_000], [20_000, 16_384], [16_777_215]]

    @Test(
        "[H-4.7] a field block is divided by the peer's frame size", arguments: [HTTP2Role.client, .server],
        sizes
    )
    func fieldBlocks(_ role: HTTP2Role, _ sizes: [UInt32]) throws {
        var session = MachineSession.opened(role)
        for size in sizes { session.receive(Wire.settings((5, size))) }
        let limit = Int(sizes.last ?? 16_384)
        _ = session.takeOutput()
        switch role {
        case .client:
            _ = try session.machine.open(
                session.list(Wire.requestFields + Self.long), method: .get, endsStream: true)
        case .server:
            session.receive(Wire.get(1))
            try session.machine.send(
                session.list([(":status", "200")] + Self.long), on: StreamID(1), endsStream: true)
        }
        let frames = Self.frames(session.takeOutput())
        let last = frames.count - 1
        #expect(frames.allSatisfy { $0.count <= limit && $0.stream == 1 })
        #expect(frames.dropLast().allSatisfy { $0.count == limit })
        // HEADERS comes first, then only CONTINUATION. END_STREAM is set on the first frame, END_HEADERS on the last.
        #expect(frames.map(\.type) == [1] + [UInt8](repeating: 9, count: last))
        #expect(frames.map { $0.flags & 4 } == [UInt8](repeating: 0, count: last) + [4])
        #expect(frames.map { $0.flags & 1 } == [1] + [UInt8](repeating: 0, count: last))
        #expect(frames.map(\.count).reduce(0, +) > 50_000)
        #expect(sizes == [16_777_215] ? last == 0 : last > 1)
    }

    @Test("[H-6.15] DATA is divided by the peer's frame size", arguments: [HTTP2Role.client, .server], sizes)
    func content(_ role: HTTP2Role, _ sizes: [UInt32]) throws {
        var session = MachineSession.opened(role, posts: role == .client ? 1 : 0)
        if role == .server {
            session.receive(Wire.get(1))
            try session.machine.send(session.list([(":status", "200")]), on: StreamID(1), endsStream: false)
        }
        session.receive(Wire.window(0, 1 << 20) + Wire.window(1, 1 << 20))
        for size in sizes { session.receive(Wire.settings((5, size))) }
        _ = session.takeOutput()
        let content = [UInt8](repeating: 7, count: 100_000)
        var sent = 0
        var counts: [Int] = []
        while sent < content.count {
            var output: [UInt8] = []
            let count = try session.machine.sendContent(
                content.count - sent, on: StreamID(1), endsStream: true, into: &output)
            counts += Self.frames(output + content.prefix(count)).map(\.count)
            sent += count
        }
        let limit = min(Int(sizes.last ?? 16_384), content.count)
        #expect(counts.allSatisfy { $0 <= limit } && counts.first == limit)
        #expect(counts.reduce(0, +) == content.count)
    }
}
