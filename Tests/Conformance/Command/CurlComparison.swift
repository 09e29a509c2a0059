// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit

/// Runs `lupine` and `curl` with the same arguments, and compares what they saved and whether they succeeded.
struct CurlComparison {
    /// The result of one of the two programs for a command line.
    struct Outcome: Equatable {
        let body: Data
        let succeeded: Bool
    }

    let folder: URL

    /// Makes a temporary folder with the files that the command lines name.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("one\ntwo\n".utf8).write(to: folder.appendingPathComponent("lines"))
        try Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }).write(
            to: folder.appendingPathComponent("blob"))
        try Data("machine 127.0.0.1 login me password pw\n".utf8).write(
            to: folder.appendingPathComponent(".netrc"))
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Runs both programs with a command line.
    func outcomes(of line: String) async throws -> (lupine: Outcome, curl: Outcome) {
        let lupine = URL(fileURLWithPath: CommandLine.arguments[0]).absoluteURL.deletingLastPathComponent()
            .appendingPathComponent("lupine").path
        // Both send the same `User-Agent`, because the echoed header fields are compared.
        let common = "-sS -A agent --compressed --ignore-stdin"
        let ours = try await run("'\(lupine)' \(common) \(line)", "lupine")
        let theirs = try await run("curl -sS -A agent --compressed \(line)", "curl")
        return (ours, theirs)
    }

    private func run(_ command: String, _ name: String) async throws -> Outcome {
        let path = folder.path
        let script = "cd '\(path)' && \(command) >'\(name).out' 2>'\(name).err' </dev/null"
        let end = try await Program.run(
            "/bin/sh", ["-c", script],
            variables: [
                "HOME": path, "http_proxy": "", "https_proxy": "", "all_proxy": "", "no_proxy": "",
                "LC_ALL": "C.UTF-8",
                // The command ends while its loops run: the memory they hold then is not a leak.
                "ASAN_OPTIONS": "detect_leaks=0",
            ])
        let body = try Data(contentsOf: folder.appendingPathComponent("\(name).out"))
        return Outcome(body: Self.comparable(body), succeeded: end == .exited(0))
    }

    /// Removes from an echo the fields in which the two clients may differ.
    private static func comparable(_ body: Data) -> Data {
        let text = String(decoding: body, as: UTF8.self)
        guard text.contains("\"headers\": {") else { return body }
        var names = [
            "Accept-Encoding", "Connection", "Content-Type\": \"multipart", "Expect", "Transfer-Encoding",
        ]
        // The boundaries of forms have different lengths.
        if text.contains("multipart/form-data") { names.append("Content-Length") }
        // The order of header fields does not matter, nor does the comma behind the last of them.
        let lines = text.split(separator: "\n").filter { line in !names.contains { line.contains("\"\($0)") }
        }
        return Data(
            lines.map { $0.hasSuffix(",") ? String($0.dropLast()) : String($0) }.sorted().joined(
                separator: "\n"
            ).utf8)
    }

    func message(_ name: String) -> String {
        let data = (try? Data(contentsOf: folder.appendingPathComponent("\(name).err"))) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
