// SPDX-License-Identifier: MIT

internal import Foundation

/// A stand-in for curl that records its arguments, to test how a real shell parses a line.
package enum CurlStandIn {
    /// Runs `line` with `sh -c`, where `curl` writes each of its arguments and a NUL into the file at `path`. Other commands of
    /// the line run as usual.
    package static func run(_ line: String, writingTo path: String) async throws -> Program.End {
        try await Program.run("sh", ["-c", "\(function)\n\(line)"], variables: ["CURL_ARGUMENTS": path])
    }

    /// Runs `line` from a file with a bash that keeps a history, like an interactive one, in which `!` refers to earlier lines.
    package static func runWithHistory(_ line: String, writingTo path: String) async throws -> Program.End {
        let script = "\(path).sh"
        defer { try? FileManager.default.removeItem(atPath: script) }
        try "\(function)\nset -o history -H\n: before\n\(line)\n".write(
            toFile: script, atomically: false, encoding: .utf8)
        return try await Program.run("bash", ["--norc", script], variables: ["CURL_ARGUMENTS": path])
    }

    private static let function =
        #"curl() { for word; do printf '%s\0' "$word"; done >> "$CURL_ARGUMENTS"; }"#
}
