// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// Event streams as specified in the WHATWG HTML standard, regardless of the pieces in which they arrive.
@Suite struct ServerSentEventsTests {
    /// An event, or the limit that one exceeded.
    enum Outcome: Equatable, Sendable {
        case event(ServerSentEvent)
        case limit(StreamLimitError)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        var lineLimit = 20
        let expected: [Outcome]

        init(_ name: String, _ text: String, lineLimit: Int = 20, _ expected: Outcome...) {
            testDescription = name
            self.text = text
            self.lineLimit = lineLimit
            self.expected = expected
        }
    }

    static func event(
        _ data: String, type: String = "message", id: String = "", retry: TimeInterval? = nil
    ) -> Outcome {
        .event(ServerSentEvent(type: type, data: data, lastEventID: id, reconnectionTime: retry))
    }

    /// Forty combining characters on one letter, and one octet more than the maximum length of a name.
    private static let (heap, long) = (
        "e" + String(repeating: "\u{301}", count: 40), String(repeating: "x", count: 8_193)
    )

    static let rows = [
        Row("nothing", ""),
        Row("an event", "data: hello\n\n", event("hello")),
        Row("without a space", "data:hello\n\n", event("hello")),
        Row("two spaces", "data:  hello\n\n", event(" hello")),
        Row("several lines", "data: YHOO\ndata: +2\ndata: 10\n\n", event("YHOO\n+2\n10")),
        Row("carriage returns", "data: a\rdata: b\r\r", event("a\nb")),
        Row("both together", "data: a\r\ndata: b\r\n\r\n", event("a\nb")),
        Row("a mark", "\u{FEFF}data: a\n\n", event("a")),
        Row("a mark later", "data: a\n\n\u{FEFF}data: b\n\n", event("a")),
        Row("a comment", ": test\n:\n\ndata: a\n:data: b\n\n", event("a")),
        Row("a field without a colon", "data\n\ndata\ndata\n\ndata:", event(""), event("\n")),
        Row("a type", "event: add\ndata: 1\n\ndata: 2\n\n", event("1", type: "add"), event("2")),
        Row("a type that nobody could compare", "event: \(heap)\ndata: 1\n\n", lineLimit: 10_000, event("1")),
        Row(
            "a type and an id that are too long", "event: \(long)\nid: \(long)\ndata: 1\n\n",
            lineLimit: 10_000,
            event("1")),
        Row(
            "an id that nobody could compare", "id: 1\nid: \(heap)\ndata: 1\n\n", lineLimit: 10_000,
            event("1", id: "1")),
        Row("a type without data", "event: add\n\ndata: 2\n\n", event("2")),
        Row("an empty type", "event: a\nevent\ndata: 1\n\n", event("1")),
        Row(
            "identifiers stay", "id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n", event("a", id: "1"),
            event("b", id: "1"), event("c", id: "2")),
        Row("an empty identifier", "id: 1\ndata: a\n\nid\ndata: b\n\n", event("a", id: "1"), event("b")),
        Row("an identifier without data", "id: 7\n\ndata: a\n\n", event("a", id: "7")),
        Row("an identifier with a zero", "id: 1\nid: 2\u{0}\ndata: a\n\n", event("a", id: "1")),
        Row("a time", "retry: 1500\ndata: a\n\ndata: b\n\n", event("a", retry: 1.5), event("b", retry: 1.5)),
        Row(
            "no times", "retry: 1s\nretry: -1\nretry:\nretry: 99999999999999999999\ndata: a\n\n",
            lineLimit: 27,
            event("a")),
        Row("fields that are none", "Data: a\ndata : b\n data: c\nfoo: d\ndata: e\n\n", event("e")),
        Row("an event that does not end", "data: a\n\ndata: b\n", event("a")),
        Row("letters of several bytes", "data: é€𝄞\n\n", event("é€𝄞")),
        Row("colons in the value", "data: a:b: c\n\n", event("a:b: c")),
        Row(
            "a line that is too long", "data: 0123456789abcdef\ndata: b\n\ndata: c\n\n",
            .limit(.lineTooLong(limit: 20)), event("c")),
        Row("a line at the limit", "data: 0123456789abcd\n\n", event("0123456789abcd")),
        Row(
            "an event that is too large",
            "id: 1\ndata: 0123456789\ndata: 0123456789\ndata: 0123456789\ndata: x\nid: 2\n\ndata: c\n\n",
            .limit(.eventTooLarge(limit: 24)), event("c")),
        Row(
            "an event at the limit", "data: 0123456789ab\ndata: 0123456789a\n\n",
            event("0123456789ab\n0123456789a")),
        Row(
            "long lines of one event", "data: 0123456789abcdef\n: 0123456789abcdefghi\n\ndata: c\n\n",
            .limit(.lineTooLong(limit: 20)), event("c")),
    ]

    private static func reader(
        _ position: EventStreamPosition? = nil, lineLimit: Int = 20
    ) -> ServerSentEventsReader {
        ServerSentEventsReader(lineLimit: lineLimit, eventLimit: 24, position: position)
    }

    private static func outcomes(_ pieces: [Data], lineLimit: Int = 20) -> [Outcome] {
        var reader = reader(lineLimit: lineLimit)
        let results = pieces.flatMap { reader.read($0) } + reader.finish()
        return results.compactMap { result in
            switch result {
            case .success(let event): .event(event)
            case .failure(let error): (error as? StreamLimitError).map { .limit($0) }
            }
        }
    }

    @Test("a stream's events do not depend on how it is divided into chunks", arguments: rows)
    func cuts(_ row: Row) {
        let bytes = Data(row.text.utf8)
        for cut in 0...bytes.count {
            let outcomes = Self.outcomes(
                [bytes.prefix(cut), bytes.dropFirst(cut)], lineLimit: row.lineLimit)
            #expect(outcomes == row.expected, "cut at \(cut)")
        }
        #expect(Self.outcomes(bytes.map { Data([$0]) }, lineLimit: row.lineLimit) == row.expected)
    }

    @Test("long field names are ignored, and ids are compared by their scalars")
    func textsOfPeers() {
        var reader = ServerSentEventsReader(lineLimit: 1 << 20, eventLimit: 1 << 20, position: nil)
        let name = "data" + String(String.UnicodeScalarView(repeatElement("\u{301}", count: 1_000)))
        let events = reader.read(
            Data("\(name):x\nid: \u{E9}\ndata: 1\n\nid: e\u{301}\ndata: 2\n\n".utf8))
        let ids = events.compactMap { try? $0.get() }.map { Array($0.lastEventID.unicodeScalars) }
        #expect(ids == [["\u{E9}"], ["e", "\u{301}"]])
    }

    @Test("invalid UTF-8 becomes replacement characters")
    func replacement() {
        let bytes = Data("data: a".utf8) + [0xC3] + Data("\ndata: b\n\n".utf8)
        #expect(Self.outcomes([bytes]) == [Self.event("a\u{FFFD}\nb")])
    }

    @Test("a reader updates the position, and the next one starts from it")
    func position() {
        let position = EventStreamPosition(lastEventID: "0")
        var reader = Self.reader(position)
        _ = reader.read(Data("data: a\n\n".utf8))
        #expect(position.lastEventID == "0")
        _ = reader.read(Data("id: 1\nretry: 250\ndata: a\n".utf8))
        #expect(position.lastEventID == "0", "not before the event has ended")
        _ = reader.read(Data("\n".utf8))
        #expect(position.lastEventID == "1")
        #expect(position.reconnectionTime == 0.25)
        var next = Self.reader(position)
        #expect(next.read(Data("data: b\n\n".utf8)).compactMap { try? $0.get().lastEventID } == ["1"])
        _ = next.read(Data("id\n\n".utf8))
        #expect(position.lastEventID.isEmpty)
    }

    @Test(
        "Last-Event-ID has the position's identifier if it is a valid field value",
        arguments: [("", nil), ("7", "7"), ("ü-1", "ü-1"), ("a\u{1}b", nil), ("a\u{7F}", nil)])
    func header(identifier: String, value: String?) throws {
        let position = EventStreamPosition(lastEventID: identifier)
        let request = position.adapted(try ResponseMaterial.request(.get))
        #expect(request.value(forHTTPHeaderField: "Last-Event-ID") == value)
    }

    @Test("`serialize` requires exactly one event")
    func whole() throws {
        let serializer = ServerSentEventsSerializer()
        #expect(try serializer.serialize(Data("data: a\n\n".utf8)) == ServerSentEvent(data: "a"))
        #expect(throws: ServerSentEventsSerializer.Mismatch.eventCount(0)) {
            try serializer.serialize(Data("data: a\n".utf8))
        }
        #expect(throws: ServerSentEventsSerializer.Mismatch.eventCount(2)) {
            try serializer.serialize(Data("data: a\n\ndata: b\n\n".utf8))
        }
        #expect(throws: StreamLimitError.lineTooLong(limit: 3)) {
            try ServerSentEventsSerializer(maximumLineLength: 3).serialize(Data("data: a\n\n".utf8))
        }
    }

    @Test("empty lines are cheap, even after a long id", .timeLimit(.minutes(10)))
    func longID() {
        let id = Data("id: \(String(repeating: "é", count: 4_096))\n\n".utf8)
        let position = EventStreamPosition()
        var reader = ServerSentEventsReader(lineLimit: 1 << 20, eventLimit: 1 << 20, position: position)
        // The second one has the same content, in different memory.
        for _ in 0..<2 { #expect(reader.read(id).isEmpty) }
        #expect(reader.read(Data(repeating: 0x0A, count: 200_000)).isEmpty)
        let events = reader.read(Data("data: x\n\n".utf8))
        #expect(events.count == 1 && (try? events.first?.get().lastEventID.utf8.count) == 8_192)
        #expect(position.lastEventID.utf8.count == 8_192)
    }
}
