// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineTestKit
import Testing

/// A machine of this library and a session of nghttp2 in the other role, which exchange frames in random steps that are the same
/// for each seed. Each end must accept what the other sends, and it must arrive as it was sent.
struct Conversation {
    typealias Field = PackedFields.Field

    /// A message that one end has sent, or received, on a stream.
    struct Message: Hashable {
        var head: [String] = []
        var count = 0
        var trailers: [String] = []
        var isOver = false
    }

    let seed: UInt64
    let role: HTTP2Role
    private(set) var machine: HTTP2Machine
    let session: NGHTTP2Session
    private var random: SeededRandom
    private var ownWire: [UInt8] = []
    private var otherWire: [UInt8] = []

    /// The messages that this end and the other one have sent and received, by stream.
    private(set) var ownSent: [StreamID: Message] = [:]
    private(set) var otherSent: [StreamID: Message] = [:]
    private(set) var ownReceived: [StreamID: Message] = [:]
    private(set) var otherReceived: [StreamID: Message] = [:]
    /// Streams that an end has reset, or that were refused.
    private(set) var broken: Set<StreamID> = []
    /// Content received but not yet consumed, in octets.
    private var ownHeld: [StreamID: Int] = [:]
    private var otherHeld: [StreamID: Int] = [:]
    private var block: [StreamID: [Field]] = [:]
    private var number = 0
    private var hasLeft = false

    init(_ role: HTTP2Role, seed: UInt64) throws {
        (self.role, self.seed) = (role, seed)
        random = SeededRandom(seed: seed)
        var limits = HTTP2Limits()
        // Both ends are well-behaved, but send many frames in no time.
        let any = Allowance(atOnce: .max, perSecond: 0)
        (limits.windowUpdates, limits.settings, limits.resets) = (any, any, any)
        (limits.provokedResets, limits.lateFrames, limits.pings, limits.emptyData) = (any, any, any, any)
        machine = HTTP2Machine(role, window: 100_000, limits: limits, at: .zero)
        session = NGHTTP2Session(role == .client ? .server : .client)
        try session.set([(.maxConcurrentStreams, 100), (.initialWindowSize, UInt32(100 + index(100_000)))])
    }

    // MARK: random steps

    mutating func step() throws {
        switch index(100) {
        case 0..<14: try open()
        case 14..<26: try answer()
        case 26..<42: try ownContent()
        case 42..<58: try otherContent()
        case 58..<64: consumeOwn(all: false)
        case 64..<70: consumeOther(all: false)
        case 70: resetOwn()
        case 71: resetOther()
        case 72..<75: changeOwn()
        case 75..<78: try changeOther()
        case 78: machine.sendPing(1)
        case 79: try session.ping()
        case 80: raiseWindow()
        default: try exchange()
        }
    }

    private mutating func open() throws {
        number += 1
        let fields =
            [
                Field(":method", "POST"), Field(":scheme", "http"), Field(":authority", "a"),
                Field(":path", "/\(number)"),
            ] + moreFields()
        if role == .client {
            guard let stream = try? machine.open(PackedFields.list(fields), method: .post, endsStream: false)
            else { return }
            ownSent[stream] = Message(head: Self.lines(fields))
        } else if !hasLeft, otherSent.values.count(where: { !$0.isOver }) < 50 {
            let stream = try session.open(fields, endsStream: false)
            otherSent[stream] = Message(head: Self.lines(fields))
        }
    }

    private mutating func answer() throws {
        number += 1
        let fields = [Field(":status", "200")] + moreFields()
        let isInterim = index(4) == 0
        let interim = [Field(":status", "103")] + moreFields()
        if role == .server {
            let waiting = machine.openStreams.filter { ownSent[$0] == nil }
            guard let stream = waiting.randomElement(using: &random) else { return }
            if isInterim { try machine.send(PackedFields.list(interim), on: stream, endsStream: false) }
            try machine.send(PackedFields.list(fields), on: stream, endsStream: false)
            ownSent[stream] = Message(head: Self.lines(fields))
        } else {
            let waiting = otherReceived.keys.filter { otherSent[$0] == nil && !broken.contains($0) }.sorted()
            guard let stream = waiting.randomElement(using: &random) else { return }
            if isInterim { try session.sendInterim(stream, interim) }
            try session.respond(stream, fields, endsStream: false)
            otherSent[stream] = Message(head: Self.lines(fields))
        }
    }

    private mutating func ownContent() throws {
        let open = machine.openStreams.filter { ownSent[$0]?.isOver == false }
        guard let stream = open.randomElement(using: &random) else { return }
        try sendOwn([0, 1, 50, 2_000, 20_000][index(5)], on: stream, isOver: index(4) == 0)
    }

    private mutating func sendOwn(_ count: Int, on stream: StreamID, isOver: Bool) throws {
        guard var message = ownSent[stream] else { return }
        let hasTrailers = isOver && index(3) == 0
        let ends = isOver && !hasTrailers
        let sent = try machine.sendContent(count, on: stream, endsStream: ends, into: &ownWire)
        ownWire += Self.content(of: stream, from: message.count, count: sent)
        message.count += sent
        message.isOver = ends && sent == count
        if hasTrailers, sent == count {
            let trailers = [Field("x-trailer", "\(stream)")]
            try machine.send(PackedFields.list(trailers), on: stream, endsStream: true)
            message.trailers = Self.lines(trailers)
            message.isOver = true
        }
        ownSent[stream] = message
    }

    private mutating func otherContent() throws {
        let open = otherSent.keys.filter { otherSent[$0]?.isOver == false && !broken.contains($0) }.sorted()
        guard let stream = open.randomElement(using: &random) else { return }
        try sendOther([0, 1, 50, 2_000, 20_000][index(5)], on: stream, isOver: index(4) == 0)
    }

    private mutating func sendOther(_ count: Int, on stream: StreamID, isOver: Bool) throws {
        guard var message = otherSent[stream] else { return }
        let hasTrailers = isOver && index(3) == 0
        let content = Self.content(of: stream, from: message.count, count: count)
        try session.send(stream, content, endsStream: isOver && !hasTrailers)
        message.count += count
        if hasTrailers {
            let trailers = [Field("x-trailer", "\(stream)")]
            try session.sendTrailers(stream, trailers)
            message.trailers = Self.lines(trailers)
        }
        message.isOver = isOver
        otherSent[stream] = message
    }

    private mutating func consumeOwn(all: Bool) {
        for (stream, count) in ownHeld.sorted(by: { $0.key < $1.key }) where all || index(2) == 0 {
            let part = all ? count : index(count + 1)
            machine.consumed(part, on: stream)
            ownHeld[stream] = part == count ? nil : count - part
        }
    }

    private mutating func consumeOther(all: Bool) {
        for (stream, count) in otherHeld.sorted(by: { $0.key < $1.key }) where all || index(2) == 0 {
            let part = all ? count : index(count + 1)
            #expect(throws: Never.self) { try session.consume(part, on: stream) }
            otherHeld[stream] = part == count ? nil : count - part
        }
    }

    private mutating func resetOwn() {
        guard let stream = machine.openStreams.randomElement(using: &random) else { return }
        machine.reset(stream, .cancel)
        broken.insert(stream)
    }

    private mutating func resetOther() {
        let known = role == .client ? Set(otherReceived.keys) : Set(otherSent.keys)
        let open = known.subtracting(broken).filter { !isOver($0) }.sorted()
        guard let stream = open.randomElement(using: &random) else { return }
        // nghttp2 does not reset a request that it has only queued, nor a stream that has ended meanwhile.
        try? session.reset(stream, .cancel)
        broken.insert(stream)
    }

    private mutating func changeOwn() {
        var settings = machine.settings
        settings.initialWindowSize = [0, 1, 100, 65_535, 1 << 20][index(5)]
        settings.headerTableSize = [0, 64, 4_096, 10_000, 65_536][index(5)]
        settings.maxFrameSize = [16_384, 20_000, 1 << 20][index(3)]
        machine.change(settings, at: .zero)
    }

    private mutating func changeOther() throws {
        try session.set([
            (.initialWindowSize, [0, 1, 100, 65_535, 1 << 20][index(5)]),
            (.headerTableSize, [0, 64, 4_096, 10_000, 65_536][index(5)]),
            (.maxFrameSize, [16_384, 20_000, 1 << 20][index(3)]),
        ])
    }

    private mutating func raiseWindow() {
        machine.raiseWindow(to: 100_000 + index(100_000))
        if let stream = machine.openStreams.randomElement(using: &random) {
            machine.raiseWindow(of: stream, to: 70_000 + index(100_000))
        }
    }

    // MARK: the wire

    /// Delivers to each end what the other has sent, in pieces.
    mutating func exchange() throws {
        machine.takeOutput(into: &ownWire)
        otherWire += try session.takeOutput()
        let piece = [13, 1_000, 100_000][index(3)]
        let (own, other) = (ownWire, otherWire)
        (ownWire, otherWire) = ([], [])
        for start in stride(from: 0, to: own.count, by: piece) {
            try session.receive(Array(own[start..<min(start + piece, own.count)]))
        }
        takeRecords()
        for start in stride(from: 0, to: other.count, by: piece) {
            try take(other[start..<min(start + piece, other.count)])
        }
    }

    /// Breaks the transport: only a part of the octets in transit arrives.
    mutating func cut() throws {
        machine.takeOutput(into: &ownWire)
        otherWire += try session.takeOutput()
        try session.receive(Array(ownWire.prefix(index(ownWire.count + 1))))
        takeRecords()
        try take(otherWire.prefix(index(otherWire.count + 1)))
    }

    private mutating func take(_ octets: ArraySlice<UInt8>) throws {
        var rest = octets
        while true {
            let (event, consumed) = try machine.next(rest.span, at: .zero)
            note(event, rest)
            rest = rest.dropFirst(consumed)
            if event == .needMore { return }
        }
    }

    private mutating func note(_ event: HTTP2Event, _ input: ArraySlice<UInt8>) {
        switch event {
        case .request(let stream, let request):
            let first = ["\(request.head.method) \(request.head.target)"]
            ownReceived[stream] = Message(head: first + Self.lines(request.head.fields))
        case .response(let stream, let head):
            ownReceived[stream] = Message(head: ["\(head.status.code)"] + Self.lines(head.fields))
        case .content(let stream, let range):
            let start = ownReceived[stream]?.count ?? 0
            let content = Array(input.dropFirst(range.lowerBound).prefix(range.count))
            check(content, of: stream, from: start)
            ownReceived[stream]?.count += content.count
            ownHeld[stream, default: 0] += content.count
        case .end(let stream, let trailers):
            ownReceived[stream]?.trailers = Self.lines(trailers)
            ownReceived[stream]?.isOver = true
        case .reset(let stream, let code):
            #expect([.cancel, .refusedStream].contains(code), "seed \(seed): stream \(stream) was reset")
            broken.insert(stream)
        case .refused(let stream): broken.insert(stream)
        case .failed(let stream, let error): Issue.record("seed \(seed): stream \(stream): \(error)")
        case .goAway(_, let code, _): #expect(code == .noError, "seed \(seed)")
        case .needMore, .interim, .windowOpened, .settings, .settingsAcknowledged, .pong, .priority: return
        }
    }

    private mutating func takeRecords() {
        for record in session.takeRecords() {
            switch record {
            case .headers(let stream): block[stream] = []
            case .field(let stream, let field): block[stream, default: []].append(field)
            case .content(let stream, let octets):
                check(octets, of: stream, from: otherReceived[stream]?.count ?? 0)
                otherReceived[stream]?.count += octets.count
                otherHeld[stream, default: 0] += octets.count
            case .frame(let stream, let type, let flags):
                if type == .headers { noteBlock(of: stream) }
                if [.headers, .data].contains(type), flags.contains(.endStream) {
                    otherReceived[stream]?.isOver = true
                }
            case .closed(let stream, let code):
                if code != .noError { broken.insert(stream) }
            case .invalid(let stream, let error):
                Issue.record("seed \(seed): nghttp2 refuses a frame on stream \(stream): \(error)")
            }
        }
    }

    private mutating func noteBlock(of stream: StreamID) {
        guard let fields = block.removeValue(forKey: stream) else { return }
        let lines = Self.lines(fields)
        if fields.first?.name.first != 0x3A {
            otherReceived[stream]?.trailers = lines
        } else if lines.first != "103" {
            otherReceived[stream] = Message(head: lines)
        }
    }

    private func check(_ content: [UInt8], of stream: StreamID, from start: Int) {
        let isSame = content == Self.content(of: stream, from: start, count: content.count)
        #expect(isSame, "seed \(seed): content of stream \(stream) from \(start) on")
    }

    // MARK: the end

    private func isOver(_ stream: StreamID) -> Bool {
        ownReceived[stream]?.isOver == true && otherReceived[stream]?.isOver == true
    }

    /// Makes one of the two ends leave.
    mutating func leave() throws {
        hasLeft = true
        if index(2) == 0 {
            if index(2) == 0 { machine.announceShutdown() }
            machine.shutDown()
        } else {
            try session.leave()
        }
    }

    /// Consumes, answers and ends everything.
    mutating func finish() throws {
        // With an initial window of 0, streams would stay blocked.
        var settings = machine.settings
        settings.initialWindowSize = 1 << 20
        machine.change(settings, at: .zero)
        try session.set([(.initialWindowSize, 1 << 20)])
        for _ in 0..<200 {
            try exchange()
            for _ in 0..<4 { try answer() }
            consumeOwn(all: true)
            consumeOther(all: true)
            for stream in machine.openStreams where ownSent[stream]?.isOver == false {
                try sendOwn(0, on: stream, isOver: true)
            }
            for stream in otherSent.keys.sorted() where otherSent[stream]?.isOver == false {
                guard !broken.contains(stream) else { continue }
                try sendOther(0, on: stream, isOver: true)
            }
            if machine.streamCount == 0, machine.waitingCount == 0, otherWire.isEmpty, ownWire.isEmpty {
                break
            }
        }
        for _ in 0..<4 {
            try exchange()
            consumeOwn(all: true)
            consumeOther(all: true)
        }
    }

    // MARK: messages

    private mutating func moreFields() -> [Field] {
        (0..<index(4)).map { _ in
            Field("x-\(index(5))", String(repeating: "v\(index(30))", count: index(10) == 0 ? 300 : 1))
        }
    }

    /// Returns a part of a stream's content, which is different at each position and on each stream.
    private static func content(of stream: StreamID, from start: Int, count: Int) -> [UInt8] {
        let first = (start + Int(stream.rawValue) * 3) % 251
        return Array(pattern[first..<(first + count)])
    }

    private static let pattern = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 % 251) }

    /// Returns the status, or the method and path, followed by the fields.
    private static func lines(_ fields: [Field]) -> [String] {
        func text(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }
        var first: [String: String] = [:]
        var lines: [String] = []
        for field in fields {
            if field.name.first == 0x3A {
                first[text(field.name)] = text(field.value)
            } else {
                lines.append("\(text(field.name))=\(text(field.value))")
            }
        }
        if let status = first[":status"] { return [status] + lines }
        guard let method = first[":method"], let path = first[":path"] else { return lines }
        return ["\(method) \(path)"] + lines
    }

    private static func lines(_ fields: Fields) -> [String] {
        (0..<fields.count).map { "\(fields.name(at: $0).lowercased())=\(fields.value(at: $0))" }
            .filter { !$0.hasPrefix("host=") }
    }

    private mutating func index(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }
}
