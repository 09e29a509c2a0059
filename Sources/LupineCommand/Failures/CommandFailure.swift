// SPDX-License-Identifier: MIT

/// A failure as the command reports it: a message for people, and an exit code for scripts.
struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The exit code.
    let code: ExitCode
    /// The message: one paragraph that names the action, the address or file, the reason and a remedy.
    let description: String

    init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Returns the failure for a file that cannot be read.
    ///
    /// - Parameters:
    ///   - path: The path as typed.
    ///   - error: The error that has the reason; nil if the reason is unknown.
    static func unreadable(_ path: String, _ error: (any Error)?) -> CommandFailure {
        let reason = error.map { ": \(FileErrorReason.reason($0))" } ?? ""
        return CommandFailure(
            .read, "Cannot read \(path)\(reason). Check the name and whether you may read it.")
    }

    /// Returns the failure for a file that cannot be written.
    ///
    /// - Parameters:
    ///   - path: The path as typed.
    ///   - error: The error that has the reason; nil if the reason is unknown.
    static func unwritable(_ path: String, _ error: (any Error)?) -> CommandFailure {
        let reason = error.map { ": \(FileErrorReason.reason($0))" } ?? ""
        return CommandFailure(
            .write,
            "Cannot write to \(path)\(reason). Check that the folder exists and has room, and that you may write there."
        )
    }
}
