// SPDX-License-Identifier: MIT
import Foundation

/// Runs commands in the root of the repository, for tests of scripts.
enum Script {
    /// Runs `/usr/bin/env ARGUMENTS` without input. Returns its exit status and its output, which includes the standard error.
    static func run(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: Repository.here.root)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
