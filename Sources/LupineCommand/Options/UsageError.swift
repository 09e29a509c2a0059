// SPDX-License-Identifier: MIT

/// An error in the command line, as one line that names a remedy. The command prints it and exits with `ExitCode.usage`.
struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, without the name of the command.
    let description: String

    init(_ description: String) { self.description = description }
}
