// SPDX-License-Identifier: MIT

/// Why the command could not do what it was asked, as it is told: one paragraph with what happened, where, why, and what
/// to try; and the exit code that says the same to a script.
struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// How the command ends.
    let code: ExitCode
    /// The paragraph.
    let description: String

    init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }

    /// A file that cannot be read.
    static func unreadable(_ path: String, _ error: (any Error)?) -> CommandFailure {
        let reason = error.map { ": \(FileErrorReason.reason($0))" } ?? ""
        return CommandFailure(
            .read, "Cannot read \(path)\(reason). Check the name and whether you may read it.")
    }

    /// A file that cannot be written.
    static func unwritable(_ path: String, _ error: (any Error)?) -> CommandFailure {
        let reason = error.map { ": \(FileErrorReason.reason($0))" } ?? ""
        return CommandFailure(
            .write,
            "Cannot write to \(path)\(reason). Check that the folder exists and has room, and that you may write there."
        )
    }
}
