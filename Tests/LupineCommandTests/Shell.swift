// SPDX-License-Identifier: MIT

import Foundation
import LupineCommand
import LupineOrigin
import LupineTransport

/// A shell for tests: runs the command in this process, with files and a terminal that are values.
struct Shell: Sendable {
    /// What a command left behind.
    struct Result: Sendable {
        let code: Int32
        let bytes: Data
        let errors: String
        var output: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// What is written to it.
    final class Paper: Sendable {
        private let bytes = Lock(Data())
        private let listener: (@Sendable (Data) -> Void)?
        init(_ listener: (@Sendable (Data) -> Void)? = nil) { self.listener = listener }
        func write(_ data: Data) {
            bytes.withLock { $0.append(data) }
            listener?(data)
        }
        var content: Data { bytes.withLock { $0 } }
    }

    let folder: String
    var environment = ["LANG": "C.UTF-8", "TERM": "xterm"]
    var isTerminal = false
    var columns = 80
    var input: Data?
    var inputKind = ProcessContext.Input.Kind.other
    /// A path under which the input can be opened.
    var inputPath: String?
    /// What is typed at a question for a password.
    var password = ""
    var interruption = Interruption()
    /// Hears of what is written to the standard error.
    var onError: (@Sendable (Data) -> Void)?
    /// Hears of what is written to the standard output.
    var onOutput: (@Sendable (Data) -> Void)?
    /// What writing to the standard output fails with.
    var outputFailure: POSIXError?

    /// Has `body` use a shell in an empty folder of its own.
    static func use<T>(_ body: (Shell) async throws -> T) async throws -> T {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var shell = Shell(folder: folder.path)
        shell.environment["HOME"] = folder.path
        return try await body(shell)
    }

    func run(_ arguments: [String]) async -> Result {
        let (output, errors) = (Paper(onOutput), Paper(onError))
        let left = Lock(input)
        let width = columns
        let secret = password
        let failure = outputFailure
        let context = ProcessContext(
            environment: environment, folder: folder,
            input: ProcessContext.Input(
                kind: input == nil ? inputKind : .pipe, path: inputPath,
                read: {
                    left.withLock { left in
                        defer { left = nil }
                        return left.flatMap { $0.isEmpty ? nil : $0 }
                    }
                }, readSecret: { secret }),
            output: ProcessContext.Sink(isTerminal: isTerminal, columns: { width }) { data in
                if let failure { throw failure }
                output.write(data)
            },
            errors: ProcessContext.Sink(isTerminal: isTerminal, columns: { width }) { errors.write($0) },
            interruption: interruption)
        let code = await Command(context).run(arguments)
        return Result(
            code: code, bytes: output.content, errors: String(decoding: errors.content, as: UTF8.self))
    }

    /// The same for a line whose words are separated by blanks.
    func run(_ line: String) async -> Result { await run(line.split(separator: " ").map(String.init)) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    func read(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
    }
}

/// Has `body` use a shell and an origin, which is gone afterwards, and which waits for a command that a busy machine is slow to run.
func withShell<T>(
    _ configuration: OriginConfiguration = OriginConfiguration(),
    _ body: (Shell, LupineOrigin.Origin) async throws -> T
) async throws -> T {
    var configuration = configuration
    configuration.idleTimeout = max(configuration.idleTimeout, .seconds(600))
    let origin = try LupineOrigin.Origin.start(configuration: configuration)
    let result: T
    do { result = try await Shell.use { try await body($0, origin) } } catch {
        await origin.shutdown()
        throw error
    }
    await origin.shutdown()
    return result
}
