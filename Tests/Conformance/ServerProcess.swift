// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineTransport

/// A server program from the distribution, run for one test: started in its own folder and on its own port, awaited until it
/// accepts connections, terminated with the test.
///
/// It runs under a small keeper program, which terminates it when the test ends and also when the test process dies, so that no
/// server is left behind. Only the process started here is terminated.
final class ServerProcess: Sendable {
    /// The reason why the server could not be started.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The server's folder and port.
    let place: ServerPlace
    private let program: String
    private let lifeline: Lock<Socket?>
    private let ended: Task<Void, Never>
    private let ending = Ending()

    /// Whether the server has ended.
    private final class Ending: Sendable {
        private let state = Lock(false)
        var hasCome: Bool { state.withLock { $0 } }
        func come() { state.withLock { $0 = true } }
    }

    /// Holds a connection to the test and terminates the server when it breaks; exits with the server's status.
    private static let keeper = """
        import socket, subprocess, sys, threading
        port, folder = int(sys.argv[1]), sys.argv[2]
        lifeline = socket.create_connection(("127.0.0.1", port))
        server = subprocess.Popen(
            sys.argv[3:], stdin=subprocess.DEVNULL, stdout=open(folder + "/output.log", "w"),
            stderr=subprocess.STDOUT)
        def watch():
            try: lifeline.recv(1)
            except OSError: pass
            server.terminate()
            try: server.wait(5)
            except subprocess.TimeoutExpired: server.kill()
        threading.Thread(target=watch, daemon=True).start()
        status = server.wait()
        try: open(folder + "/ended", "w").close()
        except OSError: pass
        sys.exit(status & 255)
        """

    /// Tries to connect until it succeeds; exits with 1 if the server has ended first, or after five minutes.
    private static let waiter = """
        import os, socket, sys, threading, time
        port, ended, patience = int(sys.argv[1]), sys.argv[2], time.monotonic() + 300
        while time.monotonic() < patience and not os.path.exists(ended):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                sys.exit(0)
            except OSError: threading.Event().wait(0.02)
        sys.exit(1)
        """

    /// Starts a server, runs `body` with it and terminates it. If `body` throws, records the server's log as an issue.
    static func with<Result>(
        _ recipe: some ServerRecipe, _ body: (ServerProcess) async throws -> Result
    ) async throws -> Result {
        let server = try await start(recipe)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop(keepingFolder: true)
            Issue.record("\(error)\n\(server.log)")
            server.removeFolder()
            throw error
        }
    }

    /// Starts a server; tries another port if another program has taken the port in the meantime.
    private static func start(_ recipe: some ServerRecipe) async throws -> ServerProcess {
        let program = try installed(recipe.programs)
        for _ in 0..<4 {
            let server = try ServerProcess(recipe, program)
            if await server.accepts() { return server }
            await server.stop(keepingFolder: true)
            let log = server.log
            server.removeFolder()
            guard log.lowercased().contains("in use") else {
                throw Failure(description: "\(program) did not start:\n\(log)")
            }
        }
        throw Failure(description: "\(program) found no free port")
    }

    private static func installed(_ programs: [String]) throws -> String {
        for program in programs {
            for folder in ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"] {
                let path = program.hasPrefix("/") ? program : "\(folder)/\(program)"
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
        }
        throw Failure(
            description:
                "\(programs.joined(separator: ", ")): not installed; Scripts/setup --test installs it")
    }

    private init(_ recipe: some ServerRecipe, _ program: String) throws {
        let folder = NSTemporaryDirectory() + "lupine-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
        place = ServerPlace(folder: folder, port: try PortSupply.next(), isRoot: geteuid() == 0)
        self.program = program
        for file in recipe.files(place) {
            try file.text.write(toFile: "\(folder)/\(file.name)", atomically: false, encoding: .utf8)
        }
        // The keeper's connection is never accepted; it lasts as long as the listener does.
        let any = SocketAddress.ipv4(.loopback, port: 0)
        let listener = try Socket.stream(for: any)
        try listener.bind(to: any)
        try listener.listen()
        let port = try listener.localAddress()?.port ?? 0
        lifeline = Lock(listener)
        let arguments =
            ["-c", Self.keeper, String(port), folder] + recipe.command(program, place)
        let python = try Self.installed(["python3"])
        ended = Task { [ending] in
            _ = try? await Program.run(python, arguments)
            ending.come()
        }
    }

    /// Waits until the server accepts connections; returns false if it has ended, or does not within five minutes. A separate
    /// program tries to connect: many servers start at once, and no thread of the tests is blocked.
    private func accepts() async -> Bool {
        let arguments = ["-c", Self.waiter, String(place.port), "\(place.folder)/ended"]
        guard let python = try? Self.installed(["python3"]) else { return false }
        let end = try? await Program.run(python, arguments)
        return end == .exited(0) && !ending.hasCome
    }

    private func stop(keepingFolder: Bool = false) async {
        lifeline.withLock { $0 = nil }
        await ended.value
        if !keepingFolder { removeFolder() }
    }

    private func removeFolder() { try? FileManager.default.removeItem(atPath: place.folder) }

    // MARK: for tests

    /// `http://127.0.0.1:port`.
    var url: String { "http://127.0.0.1:\(place.port)" }

    /// The last lines of the server's files that end in `.log`.
    var log: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.folder)) ?? []
        return names.filter { $0.hasSuffix(".log") }.sorted().map { name in
            let text = try? String(contentsOfFile: "\(place.folder)/\(name)", encoding: .utf8)
            let end = (text ?? "").split(separator: "\n").suffix(30).joined(separator: "\n")
            return "--- \(program), \(name)\n\(end)"
        }.joined(separator: "\n")
    }
}
