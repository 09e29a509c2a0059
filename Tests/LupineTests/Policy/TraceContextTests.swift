// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// Parsing and serialization of `traceparent` and `tracestate`.
@Suite struct TraceContextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let shows: String
        let text: String
        /// The serialized form; nil if parsing fails.
        var written: String?
        var error: TraceContextError?
        var testDescription: String { shows }
    }

    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"
    private static let plain = "00-\(trace)-\(span)-01"

    static let rows = [
        Row(shows: "sampled", text: plain, written: plain),
        Row(shows: "not sampled", text: "00-\(trace)-\(span)-00", written: "00-\(trace)-\(span)-00"),
        Row(shows: "other flags are not passed on", text: "00-\(trace)-\(span)-ff", written: plain),
        Row(shows: "only other flags", text: "00-\(trace)-\(span)-02", written: "00-\(trace)-\(span)-00"),
        Row(shows: "a later version", text: "01-\(trace)-\(span)-01", written: plain),
        Row(
            shows: "a later version with more", text: "cc-\(trace)-\(span)-01-what-comes-then", written: plain
        ),
        Row(shows: "a later version with a dash", text: "fe-\(trace)-\(span)-01-", written: plain),
        Row(
            shows: "a later version with more and no dash", text: "01-\(trace)-\(span)-01.x",
            error: .malformed(offset: 55)),
        Row(shows: "version ff", text: "ff-\(trace)-\(span)-01", error: .forbiddenVersion),
        Row(shows: "version 00 with more", text: plain + "-00", error: .tooLong(58)),
        Row(shows: "version 00 with a space", text: plain + " ", error: .tooLong(56)),
        Row(shows: "a space in front", text: " " + plain, error: .malformed(offset: 0)),
        Row(shows: "nothing", text: "", error: .tooShort(0)),
        Row(shows: "one octet too few", text: String(plain.dropLast()), error: .tooShort(54)),
        Row(
            shows: "zeros as the trace", text: "00-\(String(repeating: "0", count: 32))-\(span)-01",
            error: .zeroTraceID),
        Row(
            shows: "a trace with zeros in front", text: "00-\(String(repeating: "0", count: 31))1-\(span)-01",
            written: "00-\(String(repeating: "0", count: 31))1-\(span)-01"),
        Row(
            shows: "zeros as the span", text: "00-\(trace)-0000000000000000-01", error: .zeroSpanID),
        Row(shows: "upper case", text: "00-\(trace.uppercased())-\(span)-01", error: .malformed(offset: 4)),
        Row(
            shows: "upper case in the span", text: "00-\(trace)-B7ad6b7169203331-01",
            error: .malformed(offset: 36)),
        Row(shows: "upper case in the flags", text: "00-\(trace)-\(span)-0A", error: .malformed(offset: 54)),
        Row(
            shows: "no hexadecimal digit", text: "00-g\(trace.dropFirst())-\(span)-01",
            error: .malformed(offset: 3)),
        Row(shows: "no dash", text: "00_\(trace)-\(span)-01", error: .malformed(offset: 2)),
        Row(
            shows: "a dash at the wrong place", text: "000-\(trace.dropFirst())-\(span)-01",
            error: .malformed(offset: 2)),
        Row(shows: "a version of letters", text: "0x-\(trace)-\(span)-01", error: .malformed(offset: 1)),
        Row(shows: "two joined by a comma", text: "\(plain),\(plain)", error: .tooLong(111)),
        Row(
            shows: "more than one octet to a character", text: "00-é\(trace.dropFirst(2))-\(span)-01",
            error: .malformed(offset: 3)),
    ]

    @Test("[I-16.1] traceparent is parsed strictly, and written as version 00", arguments: rows)
    func traceparent(_ row: Row) throws {
        do throws(TraceContextError) {
            let context = try TraceContext(traceparent: row.text)
            #expect(context.traceparent == row.written)
            #expect(row.text.contains(context.traceID) && row.text.contains(context.spanID))
            #expect(context.tracestate == nil)
        } catch { #expect(error == row.error) }
    }

    @Test("[I-16.1] another octet at any position of a traceparent is an error")
    func anything() {
        for position in 0..<55 {
            for octet in [0x00, 0x20, 0x2D, 0x2F, 0x3A, 0x40, 0x47, 0x60, 0x67, 0x7F].map(UInt8.init) {
                var octets = Array(Self.plain.utf8)
                let old = octets[position]
                octets[position] = octet
                let isRead = (try? TraceContext(traceparent: String(decoding: octets, as: UTF8.self))) != nil
                #expect(isRead == (old == octet), "octet \(position): \(octet)")
            }
        }
    }

    @Test("[I-16.2] a child has the trace ID, the flag and the state, and another span ID")
    func children() throws {
        let parent = try TraceContext(traceparent: Self.plain, tracestate: "a=1,b@c=2")
        let child = parent.child()
        #expect(child.traceID == parent.traceID && child.spanID != parent.spanID && child.isSampled)
        #expect(child.tracestate == "a=1,b@c=2" && child != parent)
        #expect(try TraceContext(traceparent: child.traceparent, tracestate: child.tracestate) == child)
        let roots = (0..<100).map { _ in TraceContext(isSampled: false) }
        #expect(Set(roots.map(\.traceID)).count == 100 && Set(roots.map(\.spanID)).count == 100)
        for root in roots {
            #expect(try TraceContext(traceparent: root.traceparent) == root && !root.isSampled)
        }
    }

    // MARK: tracestate

    struct List: Sendable, CustomTestStringConvertible {
        let shows: String
        let text: String
        var written: String?
        var error: TraceContextError?
        var testDescription: String { shows }
    }

    private static func members(_ count: Int) -> String {
        (0..<count).map { "k\($0)=v" }.joined(separator: ",")
    }

    static let lists = [
        List(shows: "one", text: "rojo=00f067aa0ba902b7", written: "rojo=00f067aa0ba902b7"),
        List(shows: "the order is kept", text: "b=2,a=1", written: "b=2,a=1"),
        List(shows: "blanks around members", text: " \ta=1 \t,\t b=2 ", written: "a=1,b=2"),
        List(shows: "empty members", text: ",a=1,, ,b=2,", written: "a=1,b=2"),
        List(shows: "nothing", text: "", written: ""),
        List(shows: "a tenant", text: "0t-_*/@sys=x", written: "0t-_*/@sys=x"),
        List(shows: "blanks in front of a value and in it", text: "a=  x y", written: "a=  x y"),
        List(
            shows: "all that a value may have", text: "a=!\"#$%&'()*+-./:;<>?@[\\]^_`{|}~",
            written: "a=!\"#$%&'()*+-./:;<>?@[\\]^_`{|}~"),
        List(shows: "32 members", text: members(32), written: members(32)),
        List(shows: "33 members", text: members(33), error: .tooManyMembers),
        List(shows: "a key twice", text: "a=1,b=2,a=3", error: .duplicateKey("a")),
        List(shows: "no equals sign", text: "a=1,b", error: .malformed(offset: 4)),
        List(shows: "two equals signs", text: "a=1=2", error: .invalidValue),
        List(shows: "no value", text: "a=", error: .invalidValue),
        List(shows: "no key", text: "=1", error: .invalidKey),
        List(shows: "upper case in a key", text: "A=1", error: .invalidKey),
        List(shows: "a digit in front of a key", text: "1a=1", error: .invalidKey),
        List(shows: "a blank behind a key", text: "a =1", error: .invalidKey),
        List(shows: "no system", text: "a@=1", error: .invalidKey),
        List(shows: "no tenant", text: "@a=1", error: .invalidKey),
        List(shows: "two systems", text: "a@b@c=1", error: .invalidKey),
        List(shows: "a system of 14 octets", text: "a@abcdefghijklmn=1", written: "a@abcdefghijklmn=1"),
        List(shows: "a system of 15 octets", text: "a@abcdefghijklmno=1", error: .invalidKey),
        List(
            shows: "a key of 256 octets", text: "\(String(repeating: "a", count: 256))=1",
            written: "\(String(repeating: "a", count: 256))=1"),
        List(
            shows: "a key of 257 octets", text: "\(String(repeating: "a", count: 257))=1", error: .invalidKey),
        List(
            shows: "a tenant of 242 octets", text: "\(String(repeating: "a", count: 242))@b=1",
            error: .invalidKey),
        List(
            shows: "a value of 256 octets", text: "a=\(String(repeating: "x", count: 256))",
            written: "a=\(String(repeating: "x", count: 256))"),
        List(
            shows: "a value of 257 octets", text: "a=\(String(repeating: "x", count: 257))",
            error: .invalidValue),
        List(shows: "a control character", text: "a=\u{1}", error: .invalidValue),
        List(shows: "a tab in a value", text: "a=x\ty", error: .invalidValue),
        List(shows: "beyond ASCII", text: "a=é", error: .invalidValue),
        List(
            shows: "more than is looked at", text: String(repeating: ",", count: (16 << 10) + 1),
            error: .tooLong((16 << 10) + 1)),
        List(shows: "as much as is looked at", text: String(repeating: ",", count: 16 << 10), written: ""),
    ]

    @Test("[I-16.3] tracestate is parsed by its grammar", arguments: lists)
    func tracestate(_ row: List) throws {
        do throws(TraceContextError) {
            #expect(try TraceState(row.text).description == row.written)
        } catch { #expect(error == row.error) }
        // A `tracestate` that cannot be parsed is left out.
        let context = try TraceContext(traceparent: Self.plain, tracestate: row.text)
        #expect(context.tracestate ?? "" == row.written ?? "")
    }

    @Test("[I-16.3] members are removed beyond 512 octets: long ones first, then the last")
    func length() throws {
        let short = (0..<8).map { "k\($0)=\(String(repeating: "x", count: 61))" }
        let whole = (short.dropLast() + ["k7=\(String(repeating: "x", count: 54))"]).joined(separator: ",")
        #expect(whole.utf8.count == 512)
        #expect(try TraceState(whole).description == whole)
        #expect(try TraceState(whole + ",z=1").description == whole)
        let long = "long=\(String(repeating: "y", count: 124))"
        #expect(long.utf8.count == 129)
        #expect(try TraceState(long + "," + whole).description == whole)
        #expect(try TraceState("a=1," + long).description == "a=1," + long)
    }

    @Test("[I-16.3] a member that is set becomes the first, and others are removed for it")
    func setting() throws {
        var state = try TraceState("a=1,b=2,c=3")
        try state.set("9", for: "b")
        #expect(state.description == "b=9,a=1,c=3" && state["b"] == "9" && state["d"] == nil)
        state.remove("a")
        #expect(state.keys == ["b", "c"] && !state.isEmpty)
        #expect(throws: TraceContextError.invalidKey) { try state.set("1", for: "B") }
        #expect(throws: TraceContextError.invalidValue) { try state.set("1 ", for: "b") }
        var full = try TraceState(Self.members(32))
        try full.set("v", for: "new")
        #expect(full.keys.count == 32 && full.keys.first == "new" && full.keys.last == "k30")
        var wide = try TraceState(
            (0..<3).map { "k\($0)=\(String(repeating: "x", count: 120))" }.joined(separator: ","))
        try wide.set(String(repeating: "y", count: 256), for: "new")
        #expect(wide.keys == ["new", "k0", "k1"] && wide.description.utf8.count <= 512)
    }
}
