// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Tests that no string of a user or a server adds a line to a request, at any place where the library accepts strings.
@Suite struct InjectionTests {
    struct Text: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
    }

    static let texts = [
        Text(testDescription: "CR LF", text: "x\r\nX-Injected: 1"),
        Text(testDescription: "LF", text: "x\nX-Injected: 1"),
        Text(testDescription: "CR", text: "x\rX-Injected: 1"),
        Text(testDescription: "CR LF at the end", text: "x\r\n"),
        Text(testDescription: "CR LF and a blank", text: "x\r\n X-Injected: 1"),
        Text(testDescription: "NUL", text: "x\0X-Injected: 1"),
        Text(testDescription: "vertical tab and form feed", text: "x\u{0B}\u{0C}X-Injected: 1"),
        Text(testDescription: "DEL", text: "x\u{7F}X-Injected: 1"),
        Text(
            testDescription: "a whole request",
            text: "x HTTP/1.1\r\nHost: h\r\n\r\nGET /smuggled HTTP/1.1\r\nX-Injected: 1\r\n\r\n"),
        Text(testDescription: "escapes", text: "x%0D%0AX-Injected:%201"),
        Text(testDescription: "escapes of escapes", text: "x%250D%250AX-Injected:%25201"),
        Text(
            testDescription: "letters whose low octets are CR and LF", text: "x\u{010D}\u{010A}X-Injected: 1"),
        Text(testDescription: "wide letters with CR and LF in them", text: "x\u{0D0A}\u{0A0D}X-Injected: 1"),
        Text(testDescription: "Unicode's line ends", text: "x\u{85}\u{2028}\u{2029}X-Injected: 1"),
        Text(testDescription: "quotes and a comma", text: "x\", X-Injected=\"1\r\nX-Injected: 1"),
        Text(testDescription: "a boundary", text: "x\r\n--edge\r\nX-Injected: 1\r\n\r\n"),
    ]

    private func wire(of place: InjectionPlace, _ text: String) async throws -> [[UInt8]] {
        var wire: [[UInt8]] = []
        try await HostileStage.with(
            place.plan?(text), { try place.configure(text, $0, $1) },
            { stage in
                try await place.use(stage, text)
                wire = stage.wire
            })
        return wire
    }

    @Test(
        "no string adds a line to a request", .timeLimit(.minutes(10)), arguments: InjectionPlace.all,
        texts
    )
    func injected(_ place: InjectionPlace, _ text: Text) async throws {
        for connection in try await wire(of: place, text.text) {
            let finding = InjectionSearch(connection).finding
            #expect(finding == nil, "\(String(decoding: connection, as: UTF8.self))")
        }
    }

    @Test(
        "a harmless string reaches the wire from each place", .timeLimit(.minutes(10)),
        arguments: InjectionPlace.all)
    func harmless(_ place: InjectionPlace) async throws {
        guard let trace = place.trace.encoded("abc") else { return }
        let wire = try await wire(of: place, "abc").map { String(decoding: $0, as: UTF8.self) }
        #expect(wire.contains { $0.contains(trace) }, "\(wire)")
    }

    @Test("the names of the places are unique") func names() {
        #expect(Set(InjectionPlace.all.map(\.testDescription)).count == InjectionPlace.all.count)
    }

    struct SearchRow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let wire: String
        let isClean: Bool
    }

    private static func get(_ value: String) -> String { "GET / HTTP/1.1\r\nHost: h\r\nX: \(value)\r\n\r\n" }

    static let searchRows: [SearchRow] =
        [
            SearchRow(testDescription: "no bytes", wire: "", isClean: true),
            SearchRow(testDescription: "a plain request", wire: get("y"), isClean: true),
            SearchRow(testDescription: "two requests", wire: get("y") + get("z"), isClean: true),
            SearchRow(
                testDescription: "a body",
                wire: "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\r\nb\0" + get("z"),
                isClean: true),
            SearchRow(
                testDescription: "a body with a line",
                wire: "POST / HTTP/1.1\r\nContent-Length: 14\r\n\r\n\r\nX-Injected: 1", isClean: false),
            SearchRow(testDescription: "half a head", wire: "GET / HTTP/1.1\r\nHost: h\r\n", isClean: false),
            SearchRow(
                testDescription: "a target with a blank", wire: "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
                isClean: false),
        ]
        + texts.prefix(9).map {
            SearchRow(
                testDescription: "\($0.testDescription), unescaped", wire: get($0.text),
                isClean: false)
        }

    @Test("InjectionSearch finds every injected line and no other", arguments: searchRows)
    func search(_ row: SearchRow) {
        #expect((InjectionSearch(Array(row.wire.utf8)).finding == nil) == row.isClean)
    }
}
