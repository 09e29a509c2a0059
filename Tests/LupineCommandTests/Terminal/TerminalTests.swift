// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

/// The built command on a terminal: a pseudo-terminal of Python's, as wide as a test wants it, which types Ctrl-C when it has
/// seen a text.
struct TerminalTests {
    /// What a command showed.
    struct Showing: Decodable, Sendable {
        let output: String
        let status: Int32
    }

    /// Runs `argv` on a terminal. What is seen is written as JSON, in ISO 8859-1 so that every byte is one character.
    private static let keeper = """
        import fcntl, json, os, pty, select, signal, struct, sys, termios, time
        result, columns, trigger = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode()
        child, terminal = pty.fork()
        if child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execvp(sys.argv[4], sys.argv[4:])
        seen, end, typed = b"", time.monotonic() + 60, False
        while time.monotonic() < end:
            ready, _, _ = select.select([terminal], [], [], 1)
            if not ready: continue
            try: piece = os.read(terminal, 65536)
            except OSError: break
            if not piece: break
            seen += piece
            if trigger and not typed and trigger in seen:
                typed = True
                os.write(terminal, b"\\x03")
        else: os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with open(result, "w") as file:
            json.dump({"output": seen.decode("latin-1"), "status": os.waitstatus_to_exitcode(status)}, file)
        """

    private func show(
        _ line: String, columns: Int = 80, interruptAt trigger: String = "", variables: [String: String] = [:]
    ) async throws -> Showing {
        try await Shell.use { shell in
            let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
                .dropLast()
            let program = products.joined(separator: "/") + "/lupine"
            let words = line.split(separator: " ").map {
                $0.hasPrefix("~/") ? shell.folder + $0.dropFirst() : String($0)
            }
            var environment = ["LC_ALL": "C.UTF-8", "TERM": "xterm", "HOME": shell.folder, "NO_COLOR": ""]
            environment.merge(variables) { _, new in new }
            let result = shell.folder + "/result.json"
            let end = try await Program.run(
                "python3", ["-c", Self.keeper, result, "\(columns)", trigger, program] + words,
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

    /// Lines as they stood on the terminal, without escapes.
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
                "-o ~/f \(root)/range/4000000?duration=30&chunk_size=20000", interruptAt: "ETA")
            #expect(showing.status == 130, "\(showing.output)")
            let text = lines(showing).joined(separator: " ")
            #expect(text.contains("Interrupted") && text.contains("lupine -C - -o"), "\(text)")
        }
    }

    @Test func controlCEndsAStreamQuietly() async throws {
        try await converse { root in
            let showing = try await show(
                "--color never --sse \(root)/events?count=1000&interval=0.1", interruptAt: "{\"id\": 2}")
            #expect(showing.status == 130)
            #expect(showing.output.contains("{\"id\": 1}") || showing.output.contains("\"id\""))
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
}
