// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

/// Tests of the built command on a pseudo-terminal of Python's, as wide as a test requires, which types when it has seen the
/// expected output.
struct TerminalTests {
    /// The output and the exit status of a command.
    struct Showing: Decodable, Sendable {
        let output: String
        let status: Int32
        /// The number of keys that were typed.
        let typed: Int
    }

    /// Keys that are typed once `sight` has been shown, after the `sight` of the keys before.
    struct Keys: Encodable, Sendable {
        let sight: String
        let keys: String

        init(at sight: String, _ keys: String) {
            self.sight = sight
            self.keys = keys
        }

        static func interrupt(at sight: String) -> Keys { Keys(at: sight, "\u{3}") }
        static func end(at sight: String) -> Keys { Keys(at: sight, "\u{4}") }
    }

    /// Runs `argv` on a terminal. Writes its output as JSON, in ISO 8859-1, so that every byte is one character.
    private static let keeper = """
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
                sight = keys[typed]["sight"].encode()
                at = seen.find(sight, place)
                if at < 0: break
                place = at + len(sight)
                os.write(terminal, keys[typed]["keys"].encode())
                typed += 1
        else: os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with open(result, "w") as file:
            json.dump({
                "output": seen.decode("latin-1"), "status": os.waitstatus_to_exitcode(status), "typed": typed}, file)
        """

    private func show(
        _ line: String, columns: Int = 80, typing keys: [Keys] = [], variables: [String: String] = [:],
        script: String? = nil
    ) async throws -> Showing {
        try await Shell.use { shell in
            let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
                .dropLast()
            let program = products.joined(separator: "/") + "/lupine"
            let words = line.split(separator: " ").map {
                $0.hasPrefix("~/") ? shell.folder + $0.dropFirst() : String($0)
            }
            // The leak report that AddressSanitizer writes at the end would appear on the terminal, too.
            var environment = [
                "LC_ALL": "C.UTF-8", "TERM": "xterm", "HOME": shell.folder, "NO_COLOR": "",
                "ASAN_OPTIONS": "detect_leaks=0",
            ]
            environment.merge(variables) { _, new in new }
            let result = shell.folder + "/result.json"
            let typed = String(decoding: try JSONEncoder().encode(keys), as: UTF8.self)
            let end = try await Program.run(
                "python3",
                ["-c", Self.keeper, result, "\(columns)", typed] + (script.map { ["sh", "-c", $0] } ?? [])
                    + [program] + words,
                variables: environment)
            #expect(end == .exited(0))
            return try JSONDecoder().decode(Showing.self, from: shell.read("result.json"))
        }
    }

    private func converse(_ body: (String) async throws -> Void) async throws {
        let origin = try LupineOrigin.Origin.start()
        do { try await body("http://127.0.0.1:\(origin.port)") } catch {
            await origin.shutdown()
            throw error
        }
        await origin.shutdown()
    }

    /// Returns the lines as they appear on the terminal, without escape sequences.
    private func lines(_ showing: Showing) -> [String] {
        let plain = showing.output.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "")
        return plain.split(whereSeparator: { $0 == "\r" || $0 == "\n" || $0 == "\r\n" }).map(String.init)
    }

    @Test func aBarIsDrawnAndEnds() async throws {
        try await converse { root in
            let showing = try await show("-o ~/f \(root)/range/400000?duration=1&chunk_size=20000")
            #expect(showing.status == 0)
            let lines = lines(showing)
            #expect(lines.contains { $0.contains("%") && $0.contains("ETA") && $0.contains("[") })
            #expect(lines.last?.hasSuffix("done") == true, "\(lines)")
            #expect(lines.allSatisfy { $0.count < 80 * 3 })
        }
    }

    @Test(arguments: [40, 20])
    func barsFitNarrowWindows(_ columns: Int) async throws {
        try await converse { root in
            let showing = try await show(
                "-o ~/f \(root)/range/400000?duration=1&chunk_size=20000", columns: columns,
                variables: ["LC_ALL": "C"])
            #expect(showing.status == 0)
            let lines = lines(showing)
            #expect(lines.contains { $0.contains("%") })
            #expect(lines.allSatisfy { $0.count < columns }, "\(lines)")
        }
    }

    @Test(arguments: [("C", false), ("de_DE.ISO-8859-1", false), ("C.UTF-8", true)])
    func otherLocalesGetASCII(_ locale: String, _ unicode: Bool) async throws {
        try await converse { root in
            let showing = try await show(
                "-o ~/f \(root)/range/400000?duration=1&chunk_size=20000", variables: ["LC_ALL": locale])
            #expect(showing.output.unicodeScalars.contains { $0.value > 127 } == unicode)
            #expect(showing.output.contains("#") == !unicode)
        }
    }

    @Test func coloursAreOnAndOff() async throws {
        try await converse { root in
            let on = try await show("\(root)/cookies")
            #expect(
                on.output.contains("\u{1B}[36m\"cookies\"\u{1B}[0m")
                    && on.output.contains("\u{1B}[1;32m200 OK"))
            for showing in [
                try await show("\(root)/cookies", variables: ["NO_COLOR": "1"]),
                try await show("--color never \(root)/cookies"),
                try await show("\(root)/cookies", variables: ["TERM": "dumb"]),
            ] {
                #expect(!showing.output.contains("\u{1B}"))
                #expect(showing.output.contains("\"cookies\": {}") && showing.output.contains("200 OK"))
            }
        }
    }

    @Test func controlCSaysHowToGoOn() async throws {
        try await converse { root in
            let showing = try await show(
                "-o ~/f \(root)/range/4000000?duration=30&chunk_size=20000", typing: [.interrupt(at: "ETA")])
            #expect(showing.status == 130, "\(showing.output)")
            let text = lines(showing).joined(separator: " ")
            #expect(text.contains("Interrupted") && text.contains("lupine -C - -o"), "\(text)")
        }
    }

    @Test func controlCEndsAStreamQuietly() async throws {
        try await converse { root in
            let showing = try await show(
                "--color never --sse \(root)/events?count=1000&interval=0.1",
                typing: [.interrupt(at: "{\"id\": 2}")])
            #expect(showing.status == 130)
            #expect(showing.output.contains("{\"id\": 1}"), "\(showing.output)")
        }
    }

    /// Checks the state of the terminal by `stty` in the shell, which continues after the command has ended.
    @Test func controlCAtThePasswordLeavesATerminalThatShowsWhatIsTyped() async throws {
        try await converse { root in
            let showing = try await show(
                "-u name \(root)/get", typing: [.interrupt(at: "Password for name: ")],
                script: "trap : INT; \"$0\" \"$@\"; echo status $?; stty -a")
            #expect(showing.typed == 1 && showing.output.contains("status 130"), "\(showing.output)")
            #expect(showing.output.contains(" echo ") && !showing.output.contains(" -echo "))
        }
    }

    @Test func severalBarsStandBelowEachOther() async throws {
        try await converse { root in
            let path = "range/400000?duration=1&chunk_size=20000"
            let showing = try await show("-o ~/one -o ~/two \(root)/\(path) \(root)/\(path)")
            #expect(showing.status == 0)
            #expect(showing.output.contains("\u{1B}[1A"))
            let ends = lines(showing).suffix(2)
            #expect(
                ends.allSatisfy { $0.hasSuffix("done") } && ends.first?.hasPrefix("one") == true, "\(ends)")
        }
    }

    @Test func binaryIsNotPutOnTheTerminal() async throws {
        try await converse { root in
            let showing = try await show("\(root)/image/png")
            #expect(showing.output.contains("that are no text") && !showing.output.contains("IHDR"))
        }
    }

    /// Checks what is shown of each line: once as the terminal's echo, and again as it comes back from the server.
    @Test func linesTypedGoOverAWebSocketAndComeBack() async throws {
        try await converse { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let showing = try await show(
                "--color never \(url)",
                typing: [
                    Keys(at: "connected; Ctrl-D closes", "one\n"),
                    Keys(at: "one\r\none\r\n", "two and three\n"),
                    .end(at: "two and three\r\ntwo and three\r\n"),
                ])
            #expect(showing.typed == 3 && showing.status == 0, "\(showing.output)")
            #expect(lines(showing).last == "lupine: closed with 1000", "\(showing.output)")
        }
    }

    @Test func controlDBehindAHalfLineSendsIt() async throws {
        try await converse { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let showing = try await show(
                "--color never \(url)",
                typing: [Keys(at: "connected; Ctrl-D closes", "half\u{4}"), .end(at: "half")])
            #expect(showing.typed == 2 && showing.status == 0, "\(showing.output)")
            #expect(lines(showing).contains { $0.hasSuffix("halfhalf") || $0 == "half" }, "\(showing.output)")
        }
    }

    @Test func controlCLeavesAWebSocket() async throws {
        try await converse { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let showing = try await show(
                url,
                typing: [Keys(at: "connected; Ctrl-D closes", "one\n"), .interrupt(at: "one\r\none\r\n")])
            #expect(showing.typed == 2 && showing.status == 130, "\(showing.output)")
        }
    }

    @Test func whatComesOverAWebSocketDoesNotCommandTheTerminal() async throws {
        try await converse { root in
            let url = root.replacing("http://", with: "ws://") + "/websocket"
            let showing = try await show(
                "--color never \(url)",
                typing: [
                    Keys(at: "connected; Ctrl-D closes", "a\u{16}\u{1B}[2Jb\n"), .end(at: "a\\u{1b}[2Jb\r\n"),
                ])
            #expect(showing.typed == 2 && showing.status == 0, "\(showing.output)")
            #expect(!showing.output.contains("\u{1B}[2J"))
        }
    }
}
