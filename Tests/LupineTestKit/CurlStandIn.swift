// SPDX-License-Identifier: MIT

/// A curl that only tells what it was given: what a real shell makes of a line.
package enum CurlStandIn {
    /// Has `sh -c` run `line`, in which `curl` writes each of its arguments and a NUL into the file at `path`. What else the
    /// line runs, it runs.
    package static func run(_ line: String, writingTo path: String) async throws -> Program.End {
        let function = #"curl() { for word; do printf '%s\0' "$word"; done >> "$CURL_ARGUMENTS"; }"#
        return try await Program.run(
            "sh", ["-c", "\(function)\n\(line)"], variables: ["CURL_ARGUMENTS": path])
    }
}
