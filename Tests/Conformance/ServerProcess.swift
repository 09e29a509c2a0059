// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineTransport

/// A server from the distribution, run by one test: started in a folder and on a port of its own, waited for until it
/// accepts, ended with the test.
///
/// It runs under a small keeper that ends it when the test ends it and also when the test process dies, so that none
/// is ever left behind. Nothing but the process started here is ended.
final class ServerProcess: Sendable {
    /// Why there is no server.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Where it listens and keeps its files.
    let place: ServerPlace
    private let program: String
    private let lifeline: FileHandle
    private let ended: Task<Int32, Never>
    private let ending = Ending()

    /// Whether the server has ended.
    private final class Ending: Sendable {
        private let state = Lock(false)
        var hasCome: Bool { state.withLock { $0 } }
        func come() { state.withLock { $0 = true } }
    }

    /// Ends the server when its own input ends; ends with the server's status. The threads that tasks run on block
    /// signals and children inherit that, so it unblocks them first.
    private static let keeper = """
        import os, signal, subprocess, sys, threading
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
        def watch():
            os.read(0, 1)
            server.terminate()
            try: server.wait(5)
            except subprocess.TimeoutExpired: server.kill()
        threading.Thread(target=watch, daemon=True).start()
        sys.exit(server.wait() & 255)
        """

    /// Starts a server, runs `body` with it and ends it. What the server has logged is recorded when `body` throws.
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

    /// Starts a server; another port is tried when somebody took ours in the meantime.
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
                let path = "\(folder)/\(program)"
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
        let output = "\(folder)/output.log"
        try "".write(toFile: output, atomically: false, encoding: .utf8)
        guard let sink = FileHandle(forWritingAtPath: output) else {
            throw Failure(description: "cannot write to \(output)")
        }
        let input = Pipe()
        lifeline = input.fileHandleForWriting
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Self.installed(["python3"]))
        process.arguments = ["-c", Self.keeper] + recipe.command(program, place)
        process.standardInput = input
        process.standardOutput = sink
        process.standardError = sink
        let (statuses, report) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { [ending] process in
            // The handler holds the process that holds the handler.
            process.terminationHandler = nil
            ending.come()
            report.yield(process.terminationStatus)
            report.finish()
        }
        ended = Task {
            for await status in statuses { return status }
            return -1
        }
        try process.run()
    }

    /// Waits until it takes connections; false when it has ended, or does not within half a minute.
    private func accepts() async -> Bool {
        let patience = ContinuousClock.now + .seconds(30)
        while !ending.hasCome, ContinuousClock.now < patience {
            if (try? RawClient(port: place.port)) != nil { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    private func stop(keepingFolder: Bool = false) async {
        try? lifeline.close()
        _ = await ended.value
        if !keepingFolder { removeFolder() }
    }

    private func removeFolder() { try? FileManager.default.removeItem(atPath: place.folder) }

    // MARK: for tests

    /// `http://127.0.0.1:port`.
    var url: String { "http://127.0.0.1:\(place.port)" }

    /// The last lines of what the server has written into files that end in `.log`.
    var log: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.folder)) ?? []
        return names.filter { $0.hasSuffix(".log") }.sorted().map { name in
            let text = try? String(contentsOfFile: "\(place.folder)/\(name)", encoding: .utf8)
            let end = (text ?? "").split(separator: "\n").suffix(30).joined(separator: "\n")
            return "--- \(program), \(name)\n\(end)"
        }.joined(separator: "\n")
    }
}
