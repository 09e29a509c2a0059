// SPDX-License-Identifier: MIT

/// An error in the command line: one line that names the remedy. The command ends with `ExitCode.usage`.
struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, without the name of the command.
    let description: String

    init(_ description: String) { self.description = description }
}
