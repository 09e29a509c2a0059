// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import LupineTLS
import Testing

@testable import LupineCommand

/// Tests that untrusted content does not control the user's terminal, wherever it is printed. A pipe and a file get it unchanged.
struct HostileTerminalTests {
    /// Texts that would control a terminal.
    static let controlTexts: [String] = escapeSequences + controlCharacters

    private static let escapeSequences = [
        "\u{1B}]0;pwned\u{7}", "\u{1B}[8m", "\u{1B}[2J", "\u{1B}[31m", "\u{9B}2J", "\u{9D}0;x\u{9C}",
        "\u{202E}",
    ]

    /// All of C0 except tab and line feed, DEL, and all of C1.
    private static let controlCharacters: [String] = (UInt8(0)...0x9F).filter { number in
        switch number {
        case 0x09, 0x0A, 0x20..<0x7F: false
        default: true
        }
    }.map { String(Unicode.Scalar($0)) }

    /// Matches the escape sequences that lupine itself writes: colours, and the drawing of bars. None of the above is among them.
    private static var ownSequence: some RegexComponent {
        /\u{1B}\[(36|32|33|35|2|1|1;32|1;33|1;31|0)m|\u{1B}\[[0-9]+A\r|\u{1B}\[K/
    }

    /// Returns the code points in a text that would control a terminal, without lupine's own escape sequences. With
    /// `whileDrawing`, carriage returns are allowed.
    static func controls(in text: String, whileDrawing: Bool = false) -> [String] {
        var scalars = String.UnicodeScalarView()
        for scalar in text.replacing(ownSequence, with: "").unicodeScalars { scalars.append(scalar) }
        let following = Array(scalars.dropFirst()) + ["\n"]
        return zip(scalars, following).filter { scalar, next in
            switch scalar.value {
            case 0x0A, 0x09: false
            case 0x0D: !whileDrawing && next != "\n"
            case 0x00..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
            default: false
            }
        }.map { String($0.0.value, radix: 16) }
    }

    /// Runs the command against a response with this head and body.
    private func show(
        _ arguments: [String], head: String = "", body: Data, type: String = "text/plain; charset=utf-8",
        terminal: Bool = true
    ) async throws -> Shell.Result {
        try await withShell { shell, origin in
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([
                        .send(
                            "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\(head)Content-Length: \(body.count)\r\n\r\n"
                        ), .send([UInt8](body)), .close,
                    ])
                ]))
            var shell = shell
            shell.isTerminal = terminal
            return await shell.run(arguments + [":\(origin.port)/x"])
        }
    }

    @Test(arguments: controlTexts)
    func textOnATerminalIsHarmless(_ control: String) async throws {
        let body = Data("before \(control) after\r\nnext\n".utf8)
        for arguments in [["--body"], ["--body", "--pretty", "none"], ["--body", "-N"], []] {
            let result = try await show(arguments, body: body)
            // NUL makes the body binary, which is not shown at all.
            if control != "\0" {
                #expect(
                    result.output.contains("before ") && result.output.contains(" after"), "\(result.output)")
            }
            #expect(Self.controls(in: result.output) == [], "\(arguments)")
        }
        let pipe = try await show([], body: body, terminal: false)
        #expect(pipe.bytes == body)
    }

    /// Checks characters that arrive in two pieces, and octets that are not UTF-8.
    @Test func octetsOnATerminalAreHarmlessInAnyPieces() throws {
        let all: [UInt8] =
            Array("a\u{9B}2J\u{85}é😀b\u{1B}[2J".utf8) + [0x9B, 0x32, 0x4A, 0xC2] + Array("c\n".utf8) + [
                0xE2, 0x80,
            ]
        var shown: Set<String> = []
        for cut in 0...all.count {
            let recorder = Shell.Recorder()
            var presenter = BodyPresenter(
                sink: ProcessContext.Sink(isTerminal: true) { recorder.write($0) }, manner: .verbatim,
                style: Style(isOn: false), type: "text/plain")
            for piece in [all[..<cut], all[cut...]] where !piece.isEmpty { try presenter.write(Data(piece)) }
            try presenter.finish()
            #expect(String(validating: recorder.content, as: UTF8.self) != nil, "cut at \(cut)")
            shown.insert(String(decoding: recorder.content, as: UTF8.self))
        }
        #expect(shown == ["a\\u{9b}2J\\u{85}é😀b\\u{1b}[2J\\x9b2J\\xc2c\n\\xe2\\x80\n"])
    }

    /// Checks that a terminal without UTF-8 gets no octets 80 to 9F, not even within a character in UTF-8: for it they are
    /// controls.
    @Test func anEightBitTerminalGetsNoC1Controls() async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.isTerminal = true
            shell.environment["LANG"] = "en_US.ISO-8859-1"
            let body = "{\"ě\": \"Û\", \"é\": 1}"
            origin.route("GET", "/x") { _ throws(Refusal) in
                try OriginResponse(200, "application/json", Array(body.utf8))
            }
            for arguments in [[], ["--pretty", "none"], ["-i"], ["-v"]] {
                let result = await shell.run(arguments + [":\(origin.port)/x"])
                #expect(!result.bytes.contains { (0x80..<0xA0).contains($0) }, "\(result.output)")
                #expect(!result.errors.utf8.contains { (0x80..<0xA0).contains($0) })
            }
        }
    }

    @Test(arguments: controlTexts)
    func jsonOnATerminalIsHarmless(_ control: String) async throws {
        for body in [
            "{\"name \(control)\": 1}", "[\"value \(control)\"]", "[1, \(control) rest", "{}\(control)",
        ] {
            for arguments in [["--body"], ["--body", "-N"], ["--body", "--pretty", "colors"]] {
                let result = try await show(arguments, body: Data(body.utf8), type: "application/json")
                #expect(Self.controls(in: result.output) == [], "\(body) \(arguments): \(result.output)")
            }
        }
    }

    @Test(
        arguments: controlTexts.filter {
            !$0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        })
    func headsOnATerminalAreHarmless(_ control: String) async throws {
        let field = "X-Field: before \(control) after"
        for arguments in [["-i"], ["-v"], ["-D", "-"], ["-w", "%header{x-field}"], ["--print", "h"]] {
            let result = try await show(arguments, head: field + "\r\n", body: Data("x\n".utf8))
            #expect((result.output + result.errors).contains("before"), "\(result.output)\(result.errors)")
            #expect(
                Self.controls(in: result.output.replacing("\r\n", with: "\n")) == [],
                "\(arguments): \(result.output)")
            #expect(Self.controls(in: result.errors) == [], "\(arguments): \(result.errors)")
        }
        let pipe = try await show(["-i"], head: field + "\r\n", body: Data("x\n".utf8), terminal: false)
        #expect(pipe.output.contains(field), "\(pipe.output)")
        let file = try await withShell { shell, origin in
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([.send("HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: 0\r\n\r\n"), .close])
                ]))
            var shell = shell
            shell.isTerminal = true
            _ = await shell.run("-s -D heads :\(origin.port)/x")
            return String(decoding: try shell.read("heads"), as: UTF8.self)
        }
        #expect(file.contains(field), "\(file)")
    }

    /// Checks a reason phrase that is not text, wherever it is shown.
    @Test(arguments: [["-v"], ["-f"], ["-i"], ["--events"], ["--timing"]])
    func aReasonIsHarmless(_ arguments: [String]) async throws {
        try await withShell { shell, origin in
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([.send("HTTP/1.1 404 gone \u{9B}2J\u{85}\r\nContent-Length: 0\r\n\r\n"), .close])
                ]))
            var shell = shell
            shell.isTerminal = true
            let result = await shell.run(arguments + [":\(origin.port)/x"])
            #expect(Self.controls(in: result.output + result.errors) == [], "\(result.errors)")
        }
    }

    /// Checks the address of a redirect in the output of a monitor, a waterfall and an error.
    @Test(arguments: [
        ["-L", "--events"], ["-L", "--timing"], ["-L", "-v"], ["-w", "%{redirect_url} %{url_effective}"],
    ])
    func anAddressIsHarmless(_ arguments: [String]) async throws {
        try await withShell { shell, origin in
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([
                        .send(
                            "HTTP/1.1 302 Found\r\nLocation: http://h\u{9B}2J.invalid/\u{85}\u{9B}2J\r\nContent-Length: 0\r\n\r\n"
                        ), .close,
                    ])
                ]))
            var shell = shell
            shell.isTerminal = true
            let result = await shell.run(arguments + [":\(origin.port)/x"])
            #expect(Self.controls(in: result.output + result.errors) == [], "\(result.errors)")
        }
    }

    @Test(arguments: ["\u{1B}[2J", "\u{9B}2J", "\u{7F}", "\u{85}", "\n", "\r", "\u{202E}"])
    func argumentsAreHarmlessInMessages(_ control: String) async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.isTerminal = true
            let url = ":\(origin.port)/range/10"
            for arguments in [
                ["-o", "f\(control)f", url], ["-o", "none/f\(control)f", url], ["-T", "f\(control)f", url],
                ["-b", "f\(control)f", url], ["--session", "./f\(control)/x", url], ["http://h\(control)h/"],
                ["gopher\(control)://h/"], ["--f\(control)"], ["-d", "@f\(control)", url],
                ["help", "x\(control)"],
                ["--to-curl", "-H", "X: \(control)", url],
                ["--cacert", "f\(control)", "https://localhost:1/"],
                ["--cert", "f\(control)", "https://localhost:1/"], ["x\(control):=nonsense", url],
                ["-D", "none/f\(control)", url],
                ["--unix-socket", "f\(control)", url], ["-x", "h\(control)h", url],
                ["--resolve", "h:1:\(control)", url], ["--interface", "x\(control)", url],
            ] {
                let result = await shell.run(arguments)
                // Line ends are allowed: lupine writes them itself, and bodies and curl lines may contain them.
                #expect(
                    Self.controls(in: result.output, whileDrawing: true) == [],
                    "\(arguments): \(result.output)")
                #expect(
                    Self.controls(in: result.errors, whileDrawing: true) == [],
                    "\(arguments): \(result.errors)")
            }
        }
    }

    /// Checks that the name of a saved file does not control a terminal that lists the file.
    @Test(arguments: ["a%1B%5B2Jb", "a%7Fb", "a%C2%9B2Jb", "a%0Ab", "a%E2%80%AEb", "a%0Db"])
    func namesOfFilesAreHarmless(_ name: String) async throws {
        try await withShell { shell, origin in
            origin.route("GET", "/*") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", [UInt8]("x".utf8))
                try response.add("Content-Disposition", "attachment; filename*=UTF-8''\(name)")
                return response
            }
            var shell = shell
            shell.isTerminal = true
            for options in [["-O"], ["-O", "-J"]] {
                let result = await shell.run(options + [":\(origin.port)/\(name)"])
                #expect(Self.controls(in: result.errors, whileDrawing: true) == [], "\(result.errors)")
                for file in try FileManager.default.contentsOfDirectory(atPath: shell.folder) {
                    #expect(Self.controls(in: file) == [] && !file.contains("\n"), "\(file)")
                    try FileManager.default.removeItem(atPath: shell.folder + "/" + file)
                }
            }
        }
    }

    @Test(arguments: controlTexts.filter { $0 != "\r" && $0 != "\0" })
    func eventsOnATerminalAreHarmless(_ control: String) async throws {
        let stream =
            "event: kind\(control)\nid: 1\(control)\ndata: text\(control)\n\ndata: {\"a\(control)\": \"\(control)\"}\n\n"
        try await withShell { shell, origin in
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: \(stream.utf8.count)\r\n\r\n"
            origin.script("GET", "/x", ScriptPlan([Script([.send(head + stream), .close])]))
            var shell = shell
            shell.isTerminal = true
            let result = await shell.run("--sse :\(origin.port)/x")
            #expect(result.output.contains("text"), "\(result.errors)")
            #expect(Self.controls(in: result.output + result.errors) == [], "\(result.output)")
        }
    }

    @Test(arguments: controlTexts.filter { $0 != "\0" })
    func messagesOnATerminalAreHarmless(_ control: String) async throws {
        try await withShell { shell, origin in
            var shell = shell
            shell.isTerminal = true
            shell.input = Data("text\(control)\n{\"a\(control)\": \"\(control)\"}\n".utf8)
            let result = await shell.run(
                "ws://127.0.0.1:\(origin.port)/websocket?close=4000&reason=x%C2%9B2J%1B%5B2J")
            let text = result.output + result.errors
            #expect(Self.controls(in: text) == [], "\(text)")
        }
    }

    @Test(arguments: ["\u{1B}[2J", "\u{9B}2J1"])
    func namesInCertificatesAreHarmless(_ control: String) throws {
        var der = try EphemeralIdentity.make().certificate.der
        let name = Array("serve".utf8)
        let replacement = Array((control + "!!!!!").utf8.prefix(name.count))
        for start in der.indices where der[start...].starts(with: name) {
            der.replaceSubrange(start..<(start + name.count), with: replacement)
        }
        let certificate = try #require(SecCertificateCreateWithData(nil, Data(der) as CFData))
        let recorder = Shell.Recorder()
        let sink = ProcessContext.Sink(isTerminal: true) { recorder.write($0) }
        sink.say(CertificateReport.text([("h\(control)", [certificate])], style: Style(isOn: true)))
        let text = String(decoding: recorder.content, as: UTF8.self)
        #expect(text.contains("subject") && text.contains("throw-away"), "\(text)")
        #expect(Self.controls(in: text) == [], "\(text)")
    }

    @Test func progressLinesAreHarmless() {
        let bar = ProgressBar(name: "a\u{1B}[2J\u{9B}2J\n\r\u{7F}b", count: 5, total: 10, elapsed: 1)
        for isTerminal in [true, false] {
            let recorder = Shell.Recorder()
            let sink = ProcessContext.Sink(isTerminal: isTerminal) { recorder.write($0) }
            sink.say(bar.line(columns: 80, unicode: true, style: Style(isOn: true)))
            sink.say(bar.plainLine)
            let text = String(decoding: recorder.content, as: UTF8.self)
            #expect(Self.controls(in: text) == [] && !text.contains("\n"), "\(text)")
        }
    }
}
