// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Octets that a connection machine receives, and the expected events and frames.
struct MachineRow: CustomTestStringConvertible {
    let title: String
    /// The machine in its state before the octets arrive.
    let session: MachineSession
    let wire: [UInt8]
    let expected: [String]

    var testDescription: String { title }

    /// Creates a row that expects the events first, then the sent frames. `error` adds the error, and the GOAWAY that reports it
    /// with the last stream `last`.
    init(
        _ title: String, _ session: MachineSession, _ wire: [UInt8], _ expected: String...,
        error: HTTP2ConnectionError? = nil, last: UInt32 = 0
    ) {
        self.title = title
        self.session = session
        self.wire = wire
        let errorLine = error.map { ["\($0.code): \($0)"] } ?? []
        let goAwayLine = error.map { ["sent GOAWAY \(last) \($0.code)"] } ?? []
        let isSent = { (line: String) in line.hasPrefix("sent ") }
        self.expected = expected.filter { !isSent($0) } + errorLine + expected.filter(isSent) + goAwayLine
    }

    /// Checks that the machine's events and output are the same when the octets arrive whole, cut in two at each octet, and one
    /// by one.
    func check() {
        var all: Set<[String]> = [log(of: [wire]), log(of: wire.map { [$0] })]
        for cut in wire.indices where cut < 150 || cut > wire.count - 150 {
            all.insert(log(of: [Array(wire[..<cut]), Array(wire[cut...])]))
        }
        #expect(all == [expected])
    }

    private func log(of pieces: [[UInt8]]) -> [String] {
        var session = session
        for piece in pieces {
            session.receive(piece)
            if session.machine.error != nil { break }
        }
        let lines = session.takeLines() + session.sent()
        // The machine keeps no closed stream: after the open ones are reset, none is left.
        for stream in session.machine.openStreams { session.machine.reset(stream, .cancel) }
        #expect(session.machine.streamCount == 0 || session.machine.error != nil)
        return lines
    }
}

/// Frames for connection machines. Their header blocks do not use the dynamic table, so blocks can arrive in any order.
extension WireFrames {
    /// Returns a header block of literals that are never indexed.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in
            [0x10] + string(Array(name.utf8)) + string(Array(value.utf8))
        }
    }

    private static func string(_ octets: [UInt8]) -> [UInt8] {
        octets.count < 127
            ? [UInt8(octets.count)] + octets
            : [127, UInt8((octets.count - 127) & 0x7F) | 0x80, UInt8((octets.count - 127) >> 7)] + octets
    }

    static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = false) -> [UInt8] {
        frame(1, end ? 5 : 4, on: stream, block(fields))
    }

    static let requestFields = [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/")]
    static let postFields = [(":method", "POST")] + requestFields.dropFirst()

    /// Returns a request without content.
    static func get(_ stream: UInt32) -> [UInt8] { headers(stream, requestFields, end: true) }
    /// Returns a request whose content follows.
    static func post(_ stream: UInt32, _ extraFields: [(String, String)] = []) -> [UInt8] {
        headers(stream, postFields + extraFields)
    }
    /// Returns the head of a response.
    static func response(
        _ stream: UInt32, _ status: Int = 200, _ extraFields: [(String, String)] = [], end: Bool = false
    ) -> [UInt8] { headers(stream, [(":status", "\(status)")] + extraFields, end: end) }

    static func data(_ stream: UInt32, _ text: String = "", end: Bool = false) -> [UInt8] {
        frame(0, end ? 1 : 0, on: stream, Array(text.utf8))
    }
    static func data(_ stream: UInt32, count: Int, end: Bool = false) -> [UInt8] {
        frame(0, end ? 1 : 0, on: stream, [UInt8](repeating: 0x78, count: count))
    }

    static func number(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> [UInt8] { frame(3, on: stream, number(code)) }
    static func window(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        frame(8, on: stream, number(increment))
    }
    static func goAway(_ last: UInt32, _ code: UInt32 = 0, _ debug: String = "") -> [UInt8] {
        frame(7, 0, number(last) + number(code) + Array(debug.utf8))
    }
    static func settings(_ pairs: (UInt16, UInt32)...) -> [UInt8] {
        frame(4, 0, pairs.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + number($0.1) })
    }
    static let settingsAck = frame(4, 1)
    static func ping(_ octet: UInt8 = 1, ack: Bool = false) -> [UInt8] {
        frame(6, ack ? 1 : 0, [0, 0, 0, 0, 0, 0, 0, octet])
    }
    static func priorityUpdate(_ stream: UInt32, _ value: String) -> [UInt8] {
        frame(16, 0, number(stream) + Array(value.utf8))
    }

    static func times(_ count: Int, _ octets: [UInt8]) -> [UInt8] {
        var all: [UInt8] = []
        for _ in 0..<count { all += octets }
        return all
    }
}
