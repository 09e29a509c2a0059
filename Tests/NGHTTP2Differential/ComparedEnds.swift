// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// A machine of this library and a session of nghttp2 in the same role, which are given the same steps.
struct ComparedEnds {
    let role: HTTP2Role
    private let consumes: Bool
    private var machine: HTTP2Machine
    private let session: NGHTTP2Session
    private var ownReader: VerdictReader
    private var otherReader: VerdictReader
    private(set) var own = StreamLogs()
    private(set) var other = StreamLogs()
    /// Why this end has ended a stream or the connection, for the message of a failure.
    private(set) var reason = ""
    private var answered: Set<StreamID> = []
    private var ended: Set<StreamID> = []
    private var block: [StreamID: [PackedFields.Field]] = [:]

    init(_ role: HTTP2Role, consumes: Bool, opening: [UInt8]) throws {
        self.role = role
        self.consumes = consumes
        machine = HTTP2Machine(role, at: .zero)
        session = NGHTTP2Session(role)
        ownReader = VerdictReader(of: role)
        otherReader = VerdictReader(of: role)
        try session.set(
            [(.maxConcurrentStreams, 100), (.maxHeaderListSize, 262_144)]
                + (role == .client ? [(.enablePush, 0)] : []))
        _ = try flushed()
        _ = try receive(opening)
    }

    /// Whether nghttp2 ignores further input: its last stream has ended, and it has sent GOAWAY.
    var isOver: Bool { session.isOver }

    // MARK: steps

    /// Performs a step at both ends, and returns their verdicts.
    mutating func take(_ step: RandomFrames.Step) throws -> (own: Verdict, other: Verdict) {
        reason = ""
        switch step {
        case .receive(let frame): return try receive(frame.octets)
        case .respond(let stream, let endsStream):
            let fields = [PackedFields.Field(":status", "200")]
            guard role == .server, mayWrite(stream), answered.insert(stream).inserted else { break }
            let list = PackedFields.list(fields)
            guard (try? machine.send(list, on: stream, endsStream: endsStream)) != nil else { break }
            try? session.respond(stream, fields, endsStream: endsStream)
            if endsStream { ended.insert(stream) }
        case .open(let isHead, let endsStream):
            let method = isHead ? "HEAD" : "POST"
            let fields = [
                (":method", method), (":scheme", "http"), (":authority", "a"), (":path", "/"),
            ].map { PackedFields.Field($0.0, $0.1) }
            let list = PackedFields.list(fields)
            guard
                let stream = try? machine.open(list, method: isHead ? .head : .post, endsStream: endsStream)
            else { break }
            let opened = try session.open(fields, endsStream: endsStream)
            guard opened == stream else { throw NGHTTP2Failure(Int(opened.rawValue)) }
            answered.insert(stream)
            if endsStream { ended.insert(stream) }
        case .send(let stream, let count, let endsStream):
            guard mayWrite(stream), answered.contains(stream), machine.sendRoom(of: stream) >= count else {
                break
            }
            let content = [UInt8](repeating: 0x78, count: count)
            var output: [UInt8] = []
            _ = try machine.sendContent(count, on: stream, endsStream: endsStream, into: &output)
            var verdict = Verdict()
            try ownReader.read(output + content, into: &verdict)
            try? session.send(stream, content, endsStream: endsStream)
            if endsStream { ended.insert(stream) }
        case .reset(let stream):
            guard machine.openStreams.contains(stream) else { break }
            machine.reset(stream, .cancel)
            try? session.reset(stream, .cancel)
            // A reset that the application asks for is not a verdict.
            _ = try flushed()
            return (Verdict(), Verdict())
        case .leave:
            machine.shutDown()
            try session.leave()
        }
        return try flushed()
    }

    private func mayWrite(_ stream: StreamID) -> Bool {
        machine.openStreams.contains(stream) && !ended.contains(stream)
    }

    private mutating func receive(_ octets: [UInt8]) throws -> (own: Verdict, other: Verdict) {
        takeOwn(octets)
        do throws(NGHTTP2Failure) { try session.receive(octets) } catch {
            takeRecords()
            var verdicts = try flushed()
            // nghttp2 has not told its peer.
            if verdicts.other.connection == nil { verdicts.other.connection = .internalError }
            return verdicts
        }
        takeRecords()
        return try flushed()
    }

    private mutating func flushed() throws -> (own: Verdict, other: Verdict) {
        var (own, other) = (Verdict(), Verdict())
        var output: [UInt8] = []
        machine.takeOutput(into: &output)
        try ownReader.read(output, into: &own)
        try otherReader.read(session.takeOutput(), into: &other)
        return (own, other)
    }

    // MARK: events

    private mutating func takeOwn(_ octets: [UInt8]) {
        var rest = octets[...]
        while true {
            let event: HTTP2Event
            let consumed: Int
            do throws(HTTP2ConnectionError) {
                (event, consumed) = try machine.next(rest.span, at: .zero)
            } catch {
                reason = "\(error)"
                return
            }
            note(event, Array(rest))
            rest = rest.dropFirst(consumed)
            if event == .needMore { return }
        }
    }

    private mutating func note(_ event: HTTP2Event, _ input: [UInt8]) {
        switch event {
        case .request(let stream, let request):
            let fields = Self.lines(request.head.fields)
            own.add("request \(request.head.method) \(request.head.target) \(fields)", on: stream)
        case .interim(let stream, let head), .response(let stream, let head):
            own.add("response \(head.status.code) \(Self.lines(head.fields))", on: stream)
        case .content(let stream, let range):
            own.content(Array(input[range]), on: stream)
            if consumes { machine.consumed(range.count, on: stream) }
        case .end(let stream, let trailers):
            if !trailers.isEmpty { own.add("trailers \(Self.lines(trailers))", on: stream) }
            own.add("end", on: stream)
        case .reset(let stream, let code): own.add("reset \(code)", on: stream)
        case .failed(_, let error): reason = "\(error)"
        case .needMore, .refused, .windowOpened, .settings, .settingsAcknowledged, .pong, .goAway, .priority:
            return
        }
    }

    private static func lines(_ fields: Fields) -> [String] {
        (0..<fields.count).map { "\(fields.name(at: $0).lowercased())=\(fields.value(at: $0))" }
            .filter { !$0.hasPrefix("host=") }
    }

    private mutating func takeRecords() {
        for record in session.takeRecords() {
            switch record {
            case .headers(let stream): block[stream] = []
            case .field(let stream, let field): block[stream, default: []].append(field)
            case .content(let stream, let octets):
                other.content(octets, on: stream)
                if consumes { try? session.consume(octets.count, on: stream) }
            case .frame(let stream, let type, let flags):
                if type == .headers { noteBlock(of: stream) }
                if [.headers, .data].contains(type), flags.contains(.endStream) {
                    other.add("end", on: stream)
                }
                if type == .rstStream { resets.insert(stream) }
            case .closed(let stream, let code):
                if resets.contains(stream) { other.add("reset \(code)", on: stream) }
            case .invalid: continue
            }
        }
    }

    private var resets: Set<StreamID> = []

    private mutating func noteBlock(of stream: StreamID) {
        guard let fields = block.removeValue(forKey: stream) else { return }
        var pseudo: [String: String] = [:]
        var lines: [String] = []
        for field in fields {
            let (name, value) = (
                String(decoding: field.name, as: UTF8.self), String(decoding: field.value, as: UTF8.self)
            )
            if name.hasPrefix(":") {
                pseudo[name] = value
            } else if name != "host" {
                lines.append("\(name)=\(value)")
            }
        }
        if let method = pseudo[":method"] {
            other.add(
                "request \(method) \(pseudo[":path"] ?? pseudo[":authority"] ?? "") \(lines)", on: stream)
        } else if let status = pseudo[":status"] {
            other.add("response \(status) \(lines)", on: stream)
        } else if !lines.isEmpty {
            other.add("trailers \(lines)", on: stream)
        }
    }

    /// Returns the streams whose events differ, except those that are left out.
    mutating func differences(without failed: Set<StreamID>) -> [String] {
        own.streams.union(other.streams).subtracting(failed).sorted().compactMap { stream in
            let (own, other) = (own.finished(stream), other.finished(stream))
            return own == other ? nil : "stream \(stream): \(own) here, \(other) there"
        }
    }
}
