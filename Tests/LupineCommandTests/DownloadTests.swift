// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import Testing

@testable import LupineCommand

/// Tests of downloads that are interrupted and resumed.
struct DownloadTests {
    @Test func aPartialDownloadIsResumed() async throws {
        try await withShell { shell, origin in
            let whole = await shell.run("-s -o whole :\(origin.port)/range/50000")
            #expect(whole.code == 0)
            let bytes = try shell.read("whole")
            try bytes.prefix(20_000).write(to: URL(fileURLWithPath: shell.folder + "/part"))
            let result = await shell.run("-s -C - -o part :\(origin.port)/range/50000")
            #expect(result.code == 0, "\(result.errors)")
            let saved = try shell.read("part")
            #expect(saved == bytes)
            let again = await shell.run("-s -C - -o part :\(origin.port)/range/50000")
            #expect(again.code == 0, "\(again.errors)")
            let savedAgain = try shell.read("part")
            #expect(savedAgain == bytes)
        }
    }

    /// Checks content that the kernel moves into the file. With `-i` the head precedes it, and nothing between them is lost.
    @Test(arguments: ["", "-i ", "--limit-rate 100M ", "--raw-encoding "])
    func savedContentEqualsReceivedContent(_ options: String) async throws {
        try await withShell { shell, origin in
            let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            origin.route("GET", "/blob") { _ throws(Refusal) in
                try OriginResponse(200, "application/octet-stream", [UInt8](content))
            }
            let line = "\(options)-o f -w %{size_download} :\(origin.port)/blob"
            let result = await shell.run(line)
            #expect(result.code == 0, "\(result.errors)")
            #expect(
                result.output == "3000000" && result.errors.contains("2.9 MiB (100%)"), "\(result.errors)")
            let saved = try shell.read("f")
            #expect(saved.suffix(content.count) == content)
            #expect(
                saved.count == content.count
                    || (options == "-i " && saved.starts(with: Data("HTTP/1.1 200 OK\r\n".utf8))))
        }
    }

    @Test func aFullDiskIsReported() async throws {
        try await withShell { shell, origin in
            let result = await shell.run("-s -S -o /dev/full :\(origin.port)/range/100000")
            #expect(result.code == ExitCode.write.rawValue, "\(result.errors)")
        }
    }

    @Test func aServerWithoutRangesLeavesTheFileUnchanged() async throws {
        try await withShell { shell, origin in
            try shell.write("begun", to: "part")
            let result = await shell.run("-C - -o part :\(origin.port)/robots.txt")
            #expect(result.code == ExitCode.resume.rawValue)
            #expect(result.errors.contains("no ranges"))
            let saved = try shell.read("part")
            #expect(saved == Data("begun".utf8))
        }
    }

    @Test func anotherVersionIsNotAppended() async throws {
        try await withShell { shell, origin in
            try shell.write("begun", to: "part")
            try shell.write("\"another-tag\"\n", to: "part.lupine-part")
            let result = await shell.run("-C - -o part :\(origin.port)/range/1000")
            #expect(result.code == ExitCode.resume.rawValue)
            #expect(result.errors.contains("another file now"))
            let saved = try shell.read("part")
            #expect(saved == Data("begun".utf8))
        }
    }

    @Test func anErrorLeavesTheFileUnchanged() async throws {
        try await withShell { shell, origin in
            try shell.write("begun", to: "part")
            let result = await shell.run("-C - -o part :\(origin.port)/status/404")
            #expect(result.code == ExitCode.clientError.rawValue)
            let saved = try shell.read("part")
            #expect(saved == Data("begun".utf8))
        }
    }

    @Test func anInterruptedDownloadPrintsTheLineThatResumes() async throws {
        try await withShell { shell, origin in
            origin.script(
                "GET", "/stalls",
                ScriptPlan(
                    [
                        Script([
                            .send(
                                Array(
                                    "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nETag: \"e\"\r\nAccept-Ranges: bytes\r\n\r\n"
                                        .utf8)),
                            .send([UInt8](repeating: 0x61, count: 40_000)), .stall,
                        ])
                    ]))
            var shell = shell
            shell.isTerminal = true
            let interruption = shell.interruption
            shell.onError = { data in
                if String(decoding: data, as: UTF8.self).contains("39.1 KiB") { interruption.interrupt() }
            }
            let result = await shell.run("-o part :\(origin.port)/stalls")
            #expect(result.code == ExitCode.interrupted.rawValue)
            #expect(
                result.errors.replacing("\n", with: " ").contains(
                    "lupine -C - -o part :\(origin.port)/stalls"), "\(result.errors)")
            let saved = try shell.read("part")
            #expect(saved.count == 40_000)
            #expect(
                ResumeRecord.read(for: shell.folder + "/part")
                    == ResumeRecord(validator: "\"e\"", total: 100_000))
        }
    }

    /// Checks that the command does not offer to resume a file that holds an error page or a range of the content.
    @Test(arguments: [
        ("--fail-with-body", "404 Not Found", 1000), ("--check-status", "503 Service Unavailable", 1000),
        ("--check-status", "404 Not Found", 400), ("-r 100-199", "206 Partial Content", 1000),
    ])
    func resumingIsNotOfferedForErrorPagesAndRanges(
        _ options: String, _ status: String, _ length: Int
    ) async throws {
        try await withShell { shell, origin in
            let head = "HTTP/1.1 \(status)\r\nContent-Length: \(length)\r\n\r\n"
            let content = [UInt8](repeating: 0x61, count: 400)
            origin.script(
                "GET", "/x", ScriptPlan([Script([.send(Array(head.utf8)), .send(content), .close])]))
            let result = await shell.run("\(options) -o part :\(origin.port)/x")
            #expect(result.code != 0)
            #expect(!result.errors.contains("What has come is in"), "\(result.errors)")
            if options.hasPrefix("-r") { #expect(!result.errors.contains("-C -"), "\(result.errors)") }
            let kept = try shell.read("part")
            #expect(kept.count == 400)
        }
    }

    /// Checks that the ETag of an incomplete response is not saved, since the content that it identifies has not arrived.
    @Test func theETagOfIncompleteContentIsNotSaved() async throws {
        try await withShell { shell, origin in
            let head = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
            origin.script(
                "GET", "/x",
                ScriptPlan([Script([.send(head + "who"), .close]), Script([.send(head + "whole"), .close])]))
            let cut = await shell.run("-s --etag-save tag -o f :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue)
            #expect(throws: (any Error).self) { try shell.read("tag") }
            let whole = await shell.run("-s --etag-save tag -o f :\(origin.port)/x")
            #expect(whole.code == 0, "\(whole.errors)")
            let tag = try shell.read("tag")
            #expect(tag == Data("\"e\"\n".utf8))
        }
    }

    @Test func aLostConnectionIsReportedAndItsContentKept() async throws {
        try await withShell { shell, origin in
            origin.script(
                "GET", "/cut",
                ScriptPlan(
                    [
                        Script([
                            .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8)),
                            .send([UInt8](repeating: 0x61, count: 400)), .close,
                        ])
                    ]))
            let result = await shell.run("-o part :\(origin.port)/cut")
            #expect(result.code == ExitCode.lost.rawValue)
            #expect(result.errors.contains("-C -"))
            let saved = try shell.read("part")
            #expect(saved.count == 400)
        }
    }
}
