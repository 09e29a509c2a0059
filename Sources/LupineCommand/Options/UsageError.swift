// SPDX-License-Identifier: MIT

/// What is wrong with a command line: one line that names what to do. The command ends with `ExitCode.usage`.
struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, without the name of the command.
    let description: String

    init(_ description: String) { self.description = description }
}
