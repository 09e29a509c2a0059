// SPDX-License-Identifier: MIT

import LupineHTTP2
import LupineTestKit

/// The events on a connection, the same for each seed: frames of the peer, most of them legal, and actions of the application in
/// between.
struct RandomFrames {
    /// One event.
    enum Step {
        case receive(WireFrame)
        /// A server responds.
        case respond(StreamID, endsStream: Bool)
        /// A client sends a request.
        case open(isHead: Bool, endsStream: Bool)
        /// This end sends content.
        case send(StreamID, Int, endsStream: Bool)
        case reset(StreamID)
        case leave
    }

    private var random: SeededRandom
    private let role: HTTP2Role
    /// The highest stream that the client has opened; for a client's machine, the application opens the streams.
    private var highest: UInt32 = 0
    private var messages = 0
    /// Streams on which the peer has begun a message and not ended it.
    private var begun: [UInt32] = []

    init(_ role: HTTP2Role, seed: UInt64) {
        self.role = role
        random = SeededRandom(seed: seed)
    }

    /// The octets that the peer sends first: a correct preface.
    var opening: [UInt8] {
        (role == .server ? FrameReader.clientPreface : []) + WireFrame.settings([]).octets
            + WireFrame(type: .settings, flags: 1).octets
    }

    mutating func next() -> Step {
        // Most frames need an open stream to have any effect.
        if highest < 3 { return role == .client ? open() : .receive(request()) }
        switch random.next() % 100 {
        case 0..<6:
            return role == .server
                ? .respond(knownStream(), endsStream: isLikely(50)) : open()
        case 6..<12: return role == .client ? open() : .receive(request())
        case 12..<14: return .reset(knownStream())
        case 14..<18: return .send(knownStream(), Int(random.next() % 100), endsStream: isLikely(50))
        case 18: return .leave
        case 19..<24: return .receive(mutated(frame()))
        default: return .receive(frame())
        }
    }

    private mutating func open() -> Step {
        highest = highest == 0 ? 1 : highest + 2
        return .open(isHead: isLikely(10), endsStream: isLikely(50))
    }

    // MARK: frames

    private mutating func frame() -> WireFrame {
        switch random.next() % 100 {
        case 0..<28: return message()
        case 28..<55: return data()
        case 55..<60: return split(message())
        case 60..<66:
            return WireFrame(
                type: .rstStream, stream: anyStream(), payload: number([0, 1, 8, 7, 77], lengths: [4]))
        case 66..<72: return settings()
        case 72..<75:
            return WireFrame(
                type: .ping, flags: isLikely(30) ? 1 : 0, stream: rarely(1),
                payload: octets(isLikely(90) ? 8 : 7))
        case 75..<78:
            return WireFrame(
                type: .goAway, stream: rarely(1),
                payload: WireFrame.number(role == .server ? 0 : [1, 3, 0x7FFF_FFFF][index(3)])
                    + WireFrame.number([0, 2][index(2)]) + octets(index(3)))
        case 78..<87:
            return WireFrame(
                type: .windowUpdate, stream: isLikely(30) ? 0 : anyStream(),
                payload: number([1, 100, 0, 0x7FFF_FFFF, 0x7FFF_0000], lengths: [4]))
        case 87..<90:
            return WireFrame(
                type: .priority, stream: anyStream(),
                payload: WireFrame.number(isLikely(90) ? 0 : anyStream()) + octets(isLikely(90) ? 1 : 0))
        case 90..<92:
            return WireFrame(
                type: .priorityUpdate, stream: rarely(1),
                payload: WireFrame.number(anyStream() | 1) + Array("u=\(index(9))".utf8))
        case 92..<94:
            guard isLikely(20) else { return message() }
            return WireFrame(
                type: .continuation, flags: 4, stream: anyStream(), payload: WireFrame.block([("a", "b")]))
        case 94..<96:
            guard isLikely(20) else { return data() }
            return WireFrame(
                type: .pushPromise, flags: 4, stream: anyStream(),
                payload: WireFrame.number(anyStream()) + WireFrame.block(Self.get))
        default:
            return WireFrame(
                type: FrameType(rawValue: UInt8(0x20 + index(100))), flags: UInt8(index(256)),
                stream: anyStream(), payload: octets(index(20)))
        }
    }

    private static let get = [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/")]

    private mutating func message() -> WireFrame {
        if role == .server, begun.isEmpty || isLikely(60) { return request() }
        return headers(on: role == .server && isLikely(80) ? begun[index(begun.count)] : anyStream())
    }

    /// Returns a request with which a client opens a stream.
    private mutating func request() -> WireFrame {
        highest += highest == 0 ? 1 : isLikely(90) ? 2 : 4
        return headers(on: highest)
    }

    private mutating func headers(on stream: UInt32) -> WireFrame {
        messages += 1
        var fields =
            role == .server
            ? [
                (":method", ["GET", "POST", "PUT"][index(3)]), (":scheme", "http"), (":authority", "a"),
                (":path", "/\(messages)"),
            ] : [(":status", ["200", "200", "404", "204", "304", "100", "103"][index(7)])]
        if begun.contains(stream) ? isLikely(80) : isLikely(5) { fields = [("x-trailer", "\(messages)")] }
        if isLikely(20) { fields.append(("x-number", "\(messages)")) }
        if isLikely(15) { fields.append(("content-length", "\(index(60))")) }
        if isLikely(10) { spoil(&fields) }
        var frame = WireFrame.headers(stream, fields, end: isLikely(35))
        begun.removeAll { $0 == stream }
        let isInterim = fields.contains { $0.0 == ":status" && $0.1.hasPrefix("1") }
        if frame.flags & 0x01 == 0, !isInterim { begun.append(stream) }
        if isLikely(10) {
            frame.flags |= 0x20
            frame.payload = WireFrame.number(isLikely(90) ? 0 : stream) + octets(1) + frame.payload
        }
        if isLikely(10) { pad(&frame) }
        return frame
    }

    /// Makes a list malformed, or nearly so.
    private mutating func spoil(_ fields: inout [(String, String)]) {
        let spoiled = [
            ("X-Capital", "1"), ("connection", "close"), ("te", "gzip"), ("te", "trailers"), (":path", "/"),
            (":status", "200"), (":unknown", "1"), ("x-empty", ""), ("x-null", "a\0b"), ("x-line", "a\nb"),
            ("x-blank", " a"), ("content-length", "-1"), ("transfer-encoding", "chunked"), ("x y", "1"),
            ("host", "b"), ("", "1"), (":method", "GET"), ("upgrade", "h2c"), ("keep-alive", "1"),
            ("content-length", "3"),
        ]
        switch index(3) {
        case 0: fields.insert(spoiled[index(spoiled.count)], at: index(fields.count + 1))
        case 1: fields.remove(at: index(fields.count))
        default: fields.append(spoiled[index(spoiled.count)])
        }
    }

    /// Returns a header block in two frames; the second one may have a wrong type or stream, or not end the block.
    private mutating func split(_ frame: WireFrame) -> WireFrame {
        var frame = frame
        frame.flags &= 0x01
        frame.payload = WireFrame.block(role == .server ? Self.get : [(":status", "200")])
        let cut = index(frame.payload.count)
        let rest = WireFrame(
            type: isLikely(95) ? .continuation : .data, flags: isLikely(90) ? 4 : 0,
            stream: isLikely(95) ? frame.stream : anyStream(), payload: Array(frame.payload[cut...]))
        // The second frame's octets follow the first one's, whose header states only its own length.
        frame.length = cut
        frame.payload = Array(frame.payload[..<cut]) + rest.octets
        return frame
    }

    private mutating func data() -> WireFrame {
        let count = isLikely(5) ? 16_384 : isLikely(5) ? 16_385 : index(60)
        if begun.isEmpty, isLikely(90) { return message() }
        let stream = isLikely(95) ? begun.randomElement(using: &random) ?? anyStream() : anyStream()
        var frame = WireFrame.data(stream, count, end: isLikely(20))
        if frame.flags & 0x01 != 0 { begun.removeAll { $0 == stream } }
        if isLikely(10) { pad(&frame) }
        return frame
    }

    private mutating func pad(_ frame: inout WireFrame) {
        let padding = index(20)
        frame.flags |= 0x08
        frame.payload =
            [UInt8(isLikely(95) ? padding : 255)] + frame.payload
            + [UInt8](repeating: 0, count: padding)
    }

    private mutating func settings() -> WireFrame {
        if isLikely(5) { return WireFrame(type: .settings, flags: 1) }
        var pairs: [(UInt16, UInt32)] = []
        for _ in 0..<index(3) {
            let identifier = UInt16(index(10))
            let values: [UInt32] =
                switch identifier {
                case 1: [0, 100, 4_096, 65_536]
                case 2: [0, 0, 1, 2]
                case 4: [0, 10, 65_535, 65_535, 0x7FFF_FFFF, 0x8000_0000]
                case 5: [16_384, 16_384, 1 << 24, 100_000, 16_383]
                case 8, 9: [0, 0, 1, 2]
                default: [0, 10, 1_000]
                }
            pairs.append((identifier, values[index(values.count)]))
        }
        var frame = WireFrame.settings(pairs)
        if isLikely(3) { frame.payload.append(0) }
        frame.stream = rarely(1)
        return frame
    }

    /// Changes one part of the frame: a flag, a bit of the stream, the type, or an octet of the payload.
    private mutating func mutated(_ frame: WireFrame) -> WireFrame {
        var frame = frame
        switch index(4) {
        case 0: frame.flags ^= 1 << UInt8(index(8))
        case 1: frame.stream ^= 1 << UInt32(index(32))
        case 2: frame.type = FrameType(rawValue: UInt8(index(17)))
        default:
            if frame.payload.isEmpty { return frame }
            frame.payload[index(frame.payload.count)] = UInt8(truncatingIfNeeded: random.next())
        }
        return frame
    }

    // MARK: numbers

    private mutating func index(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }
    private mutating func isLikely(_ percent: UInt64) -> Bool { random.next() % 100 < percent }
    private mutating func rarely(_ number: UInt32) -> UInt32 { isLikely(95) ? 0 : number }
    private mutating func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    private mutating func number(_ numbers: [UInt32], lengths: [Int]) -> [UInt8] {
        let octets = WireFrame.number(numbers[index(numbers.count)])
        return isLikely(4) ? Array(octets.dropLast()) : octets
    }

    /// Returns a stream that the client has probably opened.
    private mutating func knownStream() -> StreamID {
        guard highest > 0 else { return StreamID(1) }
        // Most happens on the latest streams.
        let back = UInt32(index(3)) * 2
        return StreamID(highest > back ? highest - back : highest)
    }

    private mutating func anyStream() -> UInt32 {
        switch index(100) {
        case 0: highest + 2
        case 1: 2
        case 2: 0
        default: knownStream().rawValue
        }
    }
}
