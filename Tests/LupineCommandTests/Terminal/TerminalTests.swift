// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

/// Tests of the built command on a pseudo-terminal. A Python script creates it with the columns that a test requires, and types
/// keys when the expected output has appeared.
struct TerminalTests {
    /// The output and the exit status of a command that ran on the terminal.
    struct TerminalResult: Decodable, Sendable {
        let output: String
        let status: Int32
        /// The number of `Keys` that were typed.
        let typed: Int
    }

    /// Keys that are typed once `prompt` has been shown, after the prompt of the keys before.
    struct Keys: Encodable, Sendable {
        let prompt: String
        let keys: String

        init(at prompt: String, _ keys: String) {
            self.prompt = prompt
            self.keys = keys
        }

        /// Ctrl-C.
        static func interrupt(at prompt: String) -> Keys { Keys(at: prompt, "\u{3}") }
        /// Ctrl-D.
        static func end(at prompt: String) -> Keys { Keys(at: prompt, "\u{4}") }
    }

    /// A Python script that runs a command on a terminal, and writes a `TerminalResult` as JSON to a file. The output is decoded
    /// as ISO 8859-1, so that every byte is one character. The arguments: the file, the columns, the keys as JSON, the command.
    private static let terminalScript = """
        import fcntl, json, os, pty, select, signal, struct, sys, termios, time
        result, columns, keys = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
        child, terminal = pty.fork()
        if child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execvp(sys.argv[4], sys.argv[4:])
        seen, end, typed, place = b"", time.monotonic() + 60, 0, 0
        while time.monotonic() < end:
            ready, _, _ = select.select([terminal], [], [], 1)
            if not ready: continue
            try: piece = os.read(terminal, 65536)
            except OSError: break
            if not piece: break
            seen += piece
            while typed < len(keys):
                prompt = keys[typed]["prompt"].encode()
                at = seen.find(prompt, place)
                if at < 0: break
                place = at + len(prompt)
                os.write(terminal, keys[typed]["keys"].encode())
                typed += 1
        else: os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with open(result, "w") as file:
            json.dump({
                "output": seen.decode("latin-1"), "status": os.waitstatus_to_exitcode(status), "typed": typed}, file)
        """

    /// Runs the command on a terminal with this number of columns. `~/` in the line stands for the folder of the shell.
    private func runOnTerminal(
        _ line: String, columns: Int = 80, typing keys: [Keys] = [], variables: [String: String] = [:],
        script: String? = nil
    ) async throws -> TerminalResult {
        try await Shell.withTemporaryFolder { shell in
            let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
                .dropLast()
            let program = products.joined(separator: "/") + "/lupine"
            let words = line.split(separator: " ").map {
                $0.hasPrefix("~/") ? shell.folder + $0.dropFirst() : String($0)
            }
            // Otherwise the leak report of AddressSanitizer would also appear on the terminal.
            var environment = [
                "LC_ALL": "C.UTF-8", "TERM": "xterm", "HOME": shell.folder, "NO_COLOR": "",
                "ASAN_OPTIONS": "detect_leaks=0",
            ]
            environment.merge(variables) { _, new in new }
            let resultPath = shell.folder + "/result.json"
            let keysJSON = String(decoding: try JSONEncoder().encode(keys), as: UTF8.self)
            let end = try await Program.run(
                "python3",
                ["-c", Self.terminalScript, resultPath, "\(columns)", keysJSON]
                    + (script.map { ["sh", "-c", $0] } ?? [])
                    + [program] + words,
                variables: environment)
            #expect(end == .exited(0))
            return try JSONDecoder().decode(TerminalResult.self, from: shell.read("result.json"))
        }
    }

    /// Calls `body` with the root of the URLs of an origin.
    private func withOrigin(_ body: (String) async throws -> Void) async throws {
        let origin = try LupineOrigin.Origin.start()
        do { try await body("http://127.0.0.1:\(origin.port)") } catch {
            await origin.shutdown()
            throw error
        }
        await origin.shutdown()
    }

    /// Returns the lines as they appear on the terminal, without escape sequences.
    private func lines(_ result: TerminalResult) -> [String] {
        let plain = result.output.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "")
        return plain.split(whereSeparator: { $0 == "\r" || $0 == "\n" || $0 == "\r\n" }).map(String.init)
    }

    @Test func aProgressBarIsDrawn() async throws {
        try await withOrigin { root in
            let result = try await runOnTerminal("-o ~/f \(root)/range/400000?duration=1&chunk_size=20000")
            #expect(result.status == 0)
            let lines = lines(result)
            #expect(lines.contains { $0.contains("%") && $0.contains("ETA") && $0.contains("[") })
            #expect(lines.last?.hasSuffix("done") == true, "\(lines)")
            #expect(lines.allSatisfy { $0.count < 80 * 3 })
        }
    }

    @Test(arguments: [40, 20])
    func barsFitNarrowWindows(_ columns: Int) async throws {
        try await withOrigin { root in
            let result = try await runOnTerminal(
                "-o ~/f \(root)/range/400000?duration=1&chunk_size=20000", columns: columns,
                variables: ["LC_ALL": "C"])
            #expect(result.status == 0)
            let lines = lines(result)
            #expect(lines.contains { $0.contains("%") })
            #expect(lines.allSatisfy { $0.count < columns }, "\(lines)")
        }
    }

    @Test(arguments: [("C", false), ("de_DE.ISO-8859-1", false), ("C.UTF-8", true)])
    func otherLocalesGetASCII(_ locale: String, _ unicode: Bool) async throws {
        try await withOrigin { root in
            let result = try await runOnTerminal(
                "-o ~/f \(root)/range/400000?duration=1&chunk_size=20000", variables: ["LC_ALL": locale])
            #expect(result.output.unicodeScalars.contains { $0.value > 127 } == unicode)
            #expect(result.output.contains("#") == !unicode)
        }
    }

    @Test func coloursAreOnAndOff() async throws {
        try await withOrigin { root in
            let on = try await runOnTerminal("\(root)/cookies")
            #expect(
                on.output.contains("\u{1B}[36m\"cookies\"\u{1B}[0m")
                    && on.output.contains("\u{1B}[1;32m200 OK"))
            for result in [
                try await runOnTerminal("\(root)/cookies", variables: ["NO_COLOR": "1"]),
                try await runOnTerminal("--color never \(root)/cookies"),
                try await runOnTerminal("\(root)/cookies", variables: ["TERM": "dumb"]),
            ] {
                #expect(!result.output.contains("\u{1B}"))
                #expect(result.output.contains("\"cookies\": {}") && result.output.contains("200 OK"))
            }
        }
    }

    @Test func controlCPrintsTheLineThatResumes() async throws {
        try await withOrigin { root in
            let result = try await runOnTerminal(
                "-o ~/f \(root)/range/4000000?duration=30&chunk_size=20000", typing: [.interrupt(at: "ETA")])
            #expect(result.status == 130, "\(result.output)")
            let text = lines(result).joined(separator: " ")
            #expect(text.contains("Interrupted") && text.contains("lupine -C - -o"), "\(text)")
        }
    }

    @Test func controlCEndsAStreamQuietly() async throws {
        try await withOrigin { root in
            let result = try await runOnTerminal(
                "--color never --sse \(root)/events?count=1000&interval=0.1",
                typing: [.interrupt(at: "{\"id\": 2}")])
            #expect(result.status == 130)
            #expect(result.output.contains("{\"id\": 1}"), "\(result.output)")
        }
    }

    /// Checks the settings of the terminal by `stty`, which the shell runs after the command has ended.
    @Test func controlCAtThePasswordPromptRestoresEcho() async throws {
        try await withOrigin { root in
            let result = try await runOnTerminal(
                "-u name \(root)/get", typing: [.interrupt(at: "Password for name: ")],
                script: "trap : INT; \"$0\" \"$@\"; echo status $?; stty -a")
            #expect(result.typed == 1 && result.output.contains("status 130"), "\(result.output)")
            #expect(result.output.contains(" echo ") && !result.output.contains(" -echo "))
        }
    }

    @Test func eachTransferHasARow() async throws {
        try await withOrigin { root in
            let path = "range/400000?duration=1&chunk_size=20000"
            let result = try await runOnTerminal("-o ~/one -o ~/two \(root)/\(path) \(root)/\(path)")
            #expect(result.status == 0)
            #expect(result.output.contains("\u{1B}[1A"))
            let ends = lines(result).suffix(2)
            #expect(
                ends.allSatisfy { $0.hasSuffix("done") } && ends.first?.hasPrefix("one") == true, "\(ends)")
        }
    }

    @Test func binaryContentIsNotPrintedOnATerminal() async throws {
        try await withOrigin { root in
            let result = try await runOnTerminal("\(root)/image/png")
            #expect(result.output.contains("that are no text") && !result.output.contains("IHDR"))
        }
    }

    /// Checks that each line appears twice: as the echo of the terminal, and as the message that the server returns.
    @Test func typedLinesAreEchoedByAWebSocket() async throws {
        try await withOrigin { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let result = try await runOnTerminal(
                "--color never \(url)",
                typing: [
                    Keys(at: "connected; Ctrl-D closes", "one\n"),
                    Keys(at: "one\r\none\r\n", "two and three\n"),
                    .end(at: "two and three\r\ntwo and three\r\n"),
                ])
            #expect(result.typed == 3 && result.status == 0, "\(result.output)")
            #expect(lines(result).last == "lupine: closed with 1000", "\(result.output)")
        }
    }

    @Test func controlDSendsAnIncompleteLine() async throws {
        try await withOrigin { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let result = try await runOnTerminal(
                "--color never \(url)",
                typing: [Keys(at: "connected; Ctrl-D closes", "half\u{4}"), .end(at: "half")])
            #expect(result.typed == 2 && result.status == 0, "\(result.output)")
            #expect(lines(result).contains { $0.hasSuffix("halfhalf") || $0 == "half" }, "\(result.output)")
        }
    }

    @Test func controlCEndsAWebSocket() async throws {
        try await withOrigin { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let result = try await runOnTerminal(
                url,
                typing: [Keys(at: "connected; Ctrl-D closes", "one\n"), .interrupt(at: "one\r\none\r\n")])
            #expect(result.typed == 2 && result.status == 130, "\(result.output)")
        }
    }

    @Test func webSocketMessagesDoNotControlTheTerminal() async throws {
        try await withOrigin { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let result = try await runOnTerminal(
                "--color never \(url)",
                typing: [
                    Keys(at: "connected; Ctrl-D closes", "a\u{16}\u{1B}[2Jb\n"), .end(at: "a\\u{1b}[2Jb\r\n"),
                ])
            #expect(result.typed == 2 && result.status == 0, "\(result.output)")
            #expect(!result.output.contains("\u{1B}[2J"))
        }
    }
}
