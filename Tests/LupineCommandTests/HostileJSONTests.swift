// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import Testing

@testable import LupineCommand

/// Tests of formatting JSON whose output could fill a terminal, the memory or a disk.
struct HostileJSONTests {
    /// Returns the octets that are written for content that arrives in pieces of this length.
    private static func output(
        _ content: [UInt8], pieces length: Int = .max, colours: Bool = true,
        manner: BodyPresenter.Manner = .pretty(breaksLines: true), type: String = "application/json",
        terminal: Bool = true
    ) throws -> [UInt8] {
        let recorder = Shell.Recorder()
        var presenter = BodyPresenter(
            sink: ProcessContext.Sink(isTerminal: terminal) { recorder.write($0) }, manner: manner,
            style: Style(isOn: colours), type: type)
        var start = 0
        while start < content.count {
            let end = start + min(length, content.count - start)
            try presenter.write(Data(content[start..<end]))
            start = end
        }
        try presenter.finish()
        return [UInt8](recorder.content)
    }

    /// Returns the formatted content as text.
    private static func text(_ content: String, colours: Bool = false) throws -> String {
        String(decoding: try output(Array(content.utf8), colours: colours), as: UTF8.self)
    }

    /// Returns an array with this number of arrays that are nested to this depth.
    private static func nested(_ depth: Int, times: Int) -> String {
        let element = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        return "[" + [String](repeating: element, count: times).joined(separator: ",") + "]"
    }

    /// Contents whose formatted output could be much longer than the input.
    static let costly: [(name: String, content: String)] = [
        ("nested arrays", nested(500, times: 40)), ("arrays in a depth", nested(17, times: 2000)),
        ("too deep", String(repeating: "[", count: 100_000)),
        (
            "nested objects",
            String(repeating: "{\"\":", count: 500) + "1" + String(repeating: "}", count: 500)
        ),
        (
            "small numbers in a depth",
            String(repeating: "[", count: 100) + String(repeating: "1,", count: 10_000) + "1"
                + String(repeating: "]", count: 100)
        ),
        (
            "empty names in a depth",
            String(repeating: "[", count: 100) + "{" + String(repeating: "\"\":1,", count: 10_000)
        ),
        ("control characters", "[\"" + String(repeating: "\u{7F}\u{80}", count: 10_000) + "\"]"),
        ("what is no JSON", "[1, " + String(repeating: "\u{1}\u{1B}", count: 10_000)),
        ("octets that are no text", "[1, "), ("blanks", String(repeating: " \n", count: 10_000)),
        ("nothing", ""), ("one", "1"), ("an open end", "{"),
    ]

    @Test(arguments: costly.indices)
    func outputLengthIsBoundedByInputLength(_ index: Int) throws {
        let row = Self.costly[index]
        for content in [
            Array(row.content.utf8), Array(row.content.utf8) + [UInt8](repeating: 0x9B, count: 100),
        ] {
            for manner in [BodyPresenter.Manner.pretty(breaksLines: true), .lines(breaksLines: true)] {
                let count = try Self.output(content, manner: manner).count
                #expect(count <= 70 * content.count + 4096, "\(row.name)")
            }
        }
    }

    @Test func indentStopsGrowingAtDepth16() throws {
        let deep = try Self.text(String(repeating: "[", count: 40) + String(repeating: "]", count: 40))
        let lines: [Substring] = deep.split(separator: "\n")
        let margins = lines.map { line in line.prefix { $0 == " " }.count }
        let openingMargins = (0..<40).map { min($0, 16) * 4 }
        #expect(margins == openingMargins + openingMargins.reversed().dropFirst(), "\(margins)")
    }

    @Test(arguments: [
        ("[1,2,x]", "[\n    1,\n    2,x]\n"), ("{\"a\":1}}", "{\n    \"a\": 1\n}}\n"),
        ("{\"a\":1} rest", "{\n    \"a\": 1\n} rest\n"), ("[1 2]", "[\n    1 2]\n"), ("nul", "nul\n"),
        ("nulx", "nulx\n"), ("text", "text\n"), ("[01]", "[\n    01]\n"),
        ("[\"a\nb\"]", "[\n    \"a\nb\"]\n"),
        ("[\"\\x\"]", "[\n    \"\\x\"]\n"), ("[1.]", "[\n    1.]\n"), ("{\"a\"}", "{\n    \"a\"}\n"),
        ("{\"a\":1\n", "{\n    \"a\": 1\n"), ("", ""),
    ])
    func invalidJSONIsWrittenUnchanged(_ content: String, _ shown: String) throws {
        let text = try Self.text(content)
        #expect(text == shown)
    }

    /// Checks that formatting ends at the first invalid octet, and that no colour continues after it.
    @Test func coloursEndAtTheFirstInvalidOctet() throws {
        let text = try Self.text("[\"a\\x\u{1B}[2J", colours: true)
        #expect(text == "[\n    \u{1B}[32m\"a\\\u{1B}[0mx\\u{1b}[2J\n")
        let cut = try Self.text("[12", colours: true)
        #expect(cut == "[\n    \u{1B}[33m12\u{1B}[0m\n")
    }

    static let streams: [String] = [
        "{\"name\": [1, 2.5e-3, true, null, \"é😀\\u00e9\\\"\"], \"\": {}}", "[[[]], {}, [1,[2]]]  \n",
        "[1, nonsense \u{9B}2J é", "\"\u{9B}\u{85}\"", "{\"a\":1}\n{\"a\":[1]}\nnonsense\n\n{\"b\":2}",
        "  {\n  \"a\": 1\n  }\n",
    ]

    @Test(arguments: streams)
    func piecesDoNotChangeWhatIsShown(_ content: String) throws {
        let octets = Array(content.utf8)
        for type in ["application/json", "application/x-ndjson"] {
            for manner in [
                BodyPresenter.Manner.pretty(breaksLines: true), .pretty(breaksLines: false),
                .lines(breaksLines: true), .lines(breaksLines: false), .verbatim,
            ] {
                for terminal in [true, false] {
                    let whole = try Self.output(octets, manner: manner, type: type, terminal: terminal)
                    for length in [1, 2, 3, 7] {
                        let pieces = try Self.output(
                            octets, pieces: length, manner: manner, type: type, terminal: terminal)
                        #expect(
                            pieces == whole, "\(length) \(manner) \(String(decoding: whole, as: UTF8.self))")
                    }
                }
            }
        }
    }

    /// Checks that JSON is formatted while it arrives: an incomplete value is written and not buffered.
    @Test func jsonIsFormattedWhileItArrives() throws {
        let recorder = Shell.Recorder()
        var presenter = BodyPresenter(
            sink: ProcessContext.Sink(isTerminal: true) { recorder.write($0) },
            manner: .pretty(breaksLines: true),
            style: Style(isOn: false), type: "application/json")
        try presenter.write(Data("[1, \"begin".utf8))
        #expect(String(decoding: recorder.content, as: UTF8.self) == "[\n    1,\n    \"begin")
        try presenter.write(Data("ning\"".utf8))
        #expect(String(decoding: recorder.content, as: UTF8.self).hasSuffix("\"beginning\""))
    }

    @Test func eachLineOfJSONLinesIsAValue() throws {
        let content = "{\"a\":[1]}\nnonsense x\n\n{\"b\":2}"
        for (type, manner) in [
            ("application/x-ndjson", BodyPresenter.Manner.pretty(breaksLines: false)),
            ("application/json", .lines(breaksLines: false)),
            ("application/jsonl", .lines(breaksLines: false)),
        ] {
            let text = String(
                decoding: try Self.output(Array(content.utf8), colours: false, manner: manner, type: type),
                as: UTF8.self)
            #expect(text == "{\"a\": [1]}\nnonsense x\n\n{\"b\": 2}\n", "\(type)")
        }
    }

    @Test func aPipeGetsJSONUnchanged() async throws {
        try await withShell { shell, origin in
            let body = Self.nested(100, times: 50) + "\u{9B}2J"
            origin.route("GET", "/x") { _ throws(Refusal) in
                try OriginResponse(200, "application/json", Array(body.utf8))
            }
            let pipe = await shell.run(":\(origin.port)/x")
            #expect(pipe.bytes == Data(body.utf8))
        }
    }
}
