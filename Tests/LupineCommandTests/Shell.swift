// SPDX-License-Identifier: MIT

import Foundation
import LupineCommand
import LupineOrigin
import LupineTransport

/// Runs the command in this process, in a temporary folder and with recorded outputs.
struct Shell: Sendable {
    /// The exit code and the output of a command.
    struct Result: Sendable {
        let code: Int32
        let bytes: Data
        let errors: String
        var output: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Records the bytes that are written to it.
    final class Recorder: Sendable {
        private let bytes = Lock(Data())
        private let listener: (@Sendable (Data) -> Void)?
        init(_ listener: (@Sendable (Data) -> Void)? = nil) { self.listener = listener }
        func write(_ data: Data) {
            bytes.withLock { $0.append(data) }
            listener?(data)
        }
        var content: Data { bytes.withLock { $0 } }
    }

    /// The current directory of the command.
    let folder: String
    var environment = ["LANG": "C.UTF-8", "TERM": "xterm"]
    var isTerminal = false
    var columns = 80
    /// The standard input, as a pipe; nil for an input of the kind `inputKind`.
    var input: Data?
    var inputKind = ProcessContext.Input.Kind.other
    /// The path at which the command can open the input.
    var inputPath: String?
    /// The password that the user types at a prompt.
    var password = ""
    var interruption = Interruption()
    /// Called with what is written to the standard error.
    var onError: (@Sendable (Data) -> Void)?
    /// Called with what is written to the standard output.
    var onOutput: (@Sendable (Data) -> Void)?
    /// The error that writes to the standard output throw, if any.
    var outputFailure: POSIXError?

    /// Calls `body` with a shell in an empty temporary folder, which is removed afterwards.
    static func withTemporaryFolder<T>(_ body: (Shell) async throws -> T) async throws -> T {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var shell = Shell(folder: folder.path)
        shell.environment["HOME"] = folder.path
        return try await body(shell)
    }

    /// Runs the command with these arguments.
    func run(_ arguments: [String]) async -> Result {
        let (output, errors) = (Recorder(onOutput), Recorder(onError))
        let unreadInput = Lock(input)
        let width = columns
        let secret = password
        let failure = outputFailure
        let context = ProcessContext(
            environment: environment, folder: folder,
            input: ProcessContext.Input(
                kind: input == nil ? inputKind : .pipe, path: inputPath,
                read: {
                    unreadInput.withLock { input in
                        defer { input = nil }
                        return input.flatMap { $0.isEmpty ? nil : $0 }
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

    /// Runs the command with the words of a line, which are separated by spaces.
    func run(_ line: String) async -> Result { await run(line.split(separator: " ").map(String.init)) }

    /// Writes a file in the folder.
    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    /// Reads a file in the folder.
    func read(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
    }
}

/// Calls `body` with a shell and an origin, which is shut down afterwards. The origin's idle time-out is long enough for a
/// command on a busy machine.
func withShell<T>(
    _ configuration: OriginConfiguration = OriginConfiguration(),
    _ body: (Shell, LupineOrigin.Origin) async throws -> T
) async throws -> T {
    var configuration = configuration
    configuration.idleTimeout = max(configuration.idleTimeout, .seconds(600))
    let origin = try LupineOrigin.Origin.start(configuration: configuration)
    let result: T
    do { result = try await Shell.withTemporaryFolder { try await body($0, origin) } } catch {
        await origin.shutdown()
        throw error
    }
    await origin.shutdown()
    return result
}
