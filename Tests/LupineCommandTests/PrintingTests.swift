// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineCommand

/// Tests of printing, without sending a request.
struct PrintingTests {
    @Test(arguments: [
        ("{}", "{}"), ("[]", "[]"), ("[1,2]", "[\n    1,\n    2\n]"),
        ("{\"a\":{\"b\":[]}}", "{\n    \"a\": {\n        \"b\": []\n    }\n}"),
        ("\"x\"", "\"x\""), (" 1.50e3 ", "1.50e3"),
        ("{\"b\":1,\"a\":2}", "{\n    \"b\": 1,\n    \"a\": 2\n}"),
        ("[true,null]", "[\n    true,\n    null\n]"), ("{\"a\":\"\\u00e9\"}", "{\n    \"a\": \"\\u00e9\"\n}"),
    ])
    func jsonIsFormatted(_ json: String, _ text: String) {
        #expect(painted(json, Style(isOn: false), breaksLines: true) == text)
    }

    /// Returns a text as `JSONPainter` writes it.
    private func painted(_ json: String, _ style: Style, breaksLines: Bool) -> String {
        let recorder = Shell.Recorder()
        var writer = ProcessContext.ContentWriter(ProcessContext.Sink { recorder.write($0) })
        var painter = JSONPainter(style: style, breaksLines: breaksLines)
        #expect(throws: Never.self) {
            for octet in json.utf8 { try painter.write(octet, to: &writer) }
            try painter.finish(to: &writer)
            try writer.flush()
        }
        return String(decoding: recorder.content, as: UTF8.self)
    }

    @Test(arguments: [
        "", "{", "}", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", "+1", "nul", "[1 2]", "{} {}",
        "\"\u{1}\"",
        "\"\\x\"", "\"\\u12g4\"", "\"open", "-", "1e", "{,}", "[,]", "]", "{\"a\":1]",
    ])
    func invalidJSONIsRejected(_ text: String) {
        #expect(!JSONText.isValid([UInt8](text.utf8)))
    }

    @Test func deepNestingIsRefused() {
        let opening = [UInt8](repeating: 0x5B, count: JSONScanner.maximumDepth + 1)
        let closing = [UInt8](repeating: 0x5D, count: JSONScanner.maximumDepth + 1)
        #expect(!JSONText.isValid(opening + closing))
        #expect(JSONText.isValid(opening.dropLast() + closing.dropLast()))
    }

    @Test func coloursEncloseTokens() {
        #expect(
            painted("{\"a\":1}", Style(isOn: true), breaksLines: false)
                == "{\u{1B}[36m\"a\"\u{1B}[0m: \u{1B}[33m1\u{1B}[0m}")
    }

    @Test(arguments: [
        (Data([0]), true), (Data("text\n".utf8), false), (Data("caf\u{E9}".utf8), false),
        (Data("caf\u{E9}".utf8).dropLast(), false),
        (Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), true), (Data(), false),
        (Data([0xE9, 0x20, 0x61] + [UInt8](repeating: 0x61, count: 50)), false),
    ])
    func binaryContentIsDetected(_ data: Data, _ isBinary: Bool) {
        #expect(BodyPresenter.isBinary(data) == isBinary)
    }

    @Test(arguments: [
        (Int64(0), "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1.0 MiB"),
        (5_242_880, "5.0 MiB"),
        (1 << 40, "1.0 TiB"), (-5, "0 B"),
    ])
    func sizesAreFormatted(_ count: Int64, _ text: String) { #expect(ByteText.size(count) == text) }

    @Test(arguments: [
        (0.0, "0:00"), (7, "0:07"), (754, "12:34"), (3723, "1:02:03"), (-1, "--:--"),
        (Double.infinity, "--:--"),
    ])
    func clockTimesAreFormatted(_ seconds: Double, _ text: String) {
        #expect(ByteText.clock(seconds) == text)
    }

    @Test(arguments: [(0.000418, "0.42 ms"), (0.0123, "12.3 ms"), (1.237, "1.24 s"), (0.9996, "1.00 s")])
    func durationsAreFormatted(_ seconds: Double, _ text: String) {
        #expect(ByteText.duration(seconds) == text)
    }

    /// Checks that no line is wider than the terminal, whatever is known about the transfer and however long its name is.
    @Test(arguments: [12, 20, 39, 40, 41, 60, 80, 200])
    func barsFit(_ columns: Int) {
        var bars: [ProgressBar] = []
        for name in ["a", String(repeating: "long-name-", count: 30)] {
            for total in [nil, Int64(0), 1000, 1 << 40] {
                for outcome in [nil, "done", "interrupted"] {
                    bars.append(
                        ProgressBar(
                            name: name, offset: 10, count: 500, total: total, elapsed: 2, outcome: outcome))
                }
            }
        }
        bars.append(ProgressBar(name: "a", offset: .max, count: 500, total: .max, elapsed: 2))
        bars.append(ProgressBar(name: "a", offset: .max - 1, count: .max, elapsed: 2))
        for bar in bars {
            for unicode in [true, false] {
                let line = bar.line(columns: columns, unicode: unicode).plain
                #expect(line.count < max(columns, 11), "\(line)")
                if !unicode { #expect(line.utf8.count == line.count) }
            }
        }
    }

    @Test func barsShowKnownValues() {
        let bar = ProgressBar(name: "file", count: 5 << 20, total: 10 << 20, elapsed: 2)
        let wideLine = bar.line(columns: 80, unicode: false).plain
        #expect(
            wideLine.hasPrefix("file [") && wideLine.contains("50%") && wideLine.contains("2.5 MiB/s")
                && wideLine.hasSuffix("ETA 0:02"))
        #expect(bar.line(columns: 40, unicode: false).plain.hasSuffix("50% 2.5 MiB/s 0:02"))
        #expect(bar.plainLine.plain == "file: 5.0 MiB (50%), 2.5 MiB/s, 0:02 left")
        #expect(
            ProgressBar(name: "f", count: 10, elapsed: 1).line(columns: 80, unicode: true).plain.hasSuffix(
                "10 B  10 B/s  0:01"))
    }

    @Test(arguments: [
        ("a\u{1B}[31mb", "a\\u{1b}[31mb"), ("plain", "plain"), ("tab\tstays", "tab\tstays"),
        ("\u{9B}x", "\\u{9b}x"),
    ])
    func untrustedTextCannotControlATerminal(_ text: String, _ shown: String) {
        #expect(TerminalFilter.line(text) == shown)
    }

    @Test(arguments: [
        ("LANG=C.UTF-8", true), ("LANG=de_DE.utf8", true), ("LANG=C", false),
        ("LC_ALL=C LANG=C.UTF-8", false),
        ("LC_CTYPE=en_US.ISO-8859-1 LANG=C.UTF-8", false), ("", false), ("LC_ALL= LANG=C.UTF-8", true),
    ])
    func theLocaleDecidesWhatIsDrawn(_ variables: String, _ unicode: Bool) {
        var environment: [String: String] = [:]
        for pair in variables.split(separator: " ") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            environment[String(halves[0])] = String(halves[1])
        }
        let sink = ProcessContext.Sink { _ in }
        let context = ProcessContext(
            environment: environment, folder: "/", input: .init(kind: .other), output: sink, errors: sink)
        #expect(context.drawsUnicode == unicode)
    }

    @Test(
        arguments: [
            (true, Invocation.ColorChoice.auto, [:], true), (false, .auto, [:], false),
            (true, .auto, ["NO_COLOR": "1"], false),
            (true, .auto, ["NO_COLOR": ""], true), (true, .auto, ["TERM": "dumb"], false),
            (false, .always, ["NO_COLOR": "1"], true),
            (true, .never, [:], false),
        ] as [(Bool, Invocation.ColorChoice, [String: String], Bool)])
    func coloursAreUsed(
        _ isTerminal: Bool, _ choice: Invocation.ColorChoice, _ environment: [String: String], _ used: Bool
    ) {
        let sink = ProcessContext.Sink(isTerminal: isTerminal) { _ in }
        let context = ProcessContext(
            environment: environment, folder: "/", input: .init(kind: .other), output: sink, errors: sink)
        #expect(context.usesColor(on: sink, choice) == used)
    }

    @Test func theWaterfallIsDrawnAndWritten() {
        let waterfall = Waterfall(
            rows: [
                .init(
                    method: "GET", url: "http://a.test/", status: 302, isReused: false,
                    remote: "127.0.0.1:80", start: 0,
                    end: 0.5, spans: [(.lookUp, 0, 0.1), (.connect, 0.1, 0.2), (.wait, 0.2, 0.5)]),
                .init(
                    method: "GET", url: "http://a.test/b", status: 200, isReused: true,
                    remote: "127.0.0.1:80", start: 0.5,
                    end: 1, spans: [(.send, 0.5, 0.5), (.receive, 0.5, 1)]),
            ], total: 1)
        let text = waterfall.text(columns: 54, unicode: false, style: Style(isOn: false)).plain
        #expect(
            text == """
                302 GET http://a.test/
                  look-up  llll 100.0 ms
                  connect      cccc 100.0 ms
                  wait             wwwwwwwwwwww 300.0 ms
                200 GET http://a.test/b
                  send                         s 0.00 ms
                  receive             500.0 ms rrrrrrrrrrrrrrrrrrrr
                  total    1.00 s

                """)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 54 })
        #expect(JSONText.isValid([UInt8](waterfall.json.utf8)))
        #expect(waterfall.json.hasPrefix("{\"total\": 1.000000, \"transactions\": [{\"method\": \"GET\""))
    }
}
