// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import Testing

@testable import LupineCommand

/// Tests of `-C -` with servers whose responses do not match the partial file: the file stays unchanged, and the command reports
/// it.
struct HostileResumeTests {
    /// A response to a request for the bytes after `begun`. The complete content is `begunworld`, with the ETag `"v1"`.
    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var status = "206 Partial Content"
        var fields = ["ETag: \"v1\"", "Content-Range: bytes 5-9/10"]
        /// The fields that frame the body; `Content-Length` if nil.
        var framing: String?
        var body = "world"
        /// The content of the resume record; nil if there is none.
        var record: String? = "\"v1\"\n10\n"
        var code = ExitCode.resume
        /// A part of the expected error.
        var error = "Cannot go on with the download"
    }

    static let refused: [Answer] = [
        Answer(
            testDescription: "another ETag", fields: ["ETag: \"v2\"", "Content-Range: bytes 5-9/10"],
            error: "v2"),
        Answer(testDescription: "a weak ETag", fields: ["ETag: W/\"v1\"", "Content-Range: bytes 5-9/10"]),
        Answer(testDescription: "no ETag any more", fields: ["Content-Range: bytes 5-9/10"]),
        Answer(
            testDescription: "another date",
            fields: [
                "Last-Modified: Tue, 02 Jan 2024 00:00:00 GMT", "Content-Range: bytes 5-9/10",
            ], record: "Mon, 01 Jan 2024 00:00:00 GMT\n10\n"),
        Answer(
            testDescription: "an earlier part", fields: ["ETag: \"v1\"", "Content-Range: bytes 0-9/10"],
            body: "begunworld"),
        Answer(
            testDescription: "a later part", fields: ["ETag: \"v1\"", "Content-Range: bytes 6-9/10"],
            body: "orld"),
        Answer(
            testDescription: "a part that ends before it begins",
            fields: ["ETag: \"v1\"", "Content-Range: bytes 5-4/10"], body: ""),
        Answer(
            testDescription: "a part behind the end",
            fields: ["ETag: \"v1\"", "Content-Range: bytes 5-10/10"], body: "worlds"),
        Answer(
            testDescription: "a part of the rest", fields: ["ETag: \"v1\"", "Content-Range: bytes 5-7/10"],
            body: "wor"),
        Answer(
            testDescription: "another total", fields: ["ETag: \"v1\"", "Content-Range: bytes 5-10/11"],
            body: "worlds"),
        Answer(testDescription: "no total", fields: ["ETag: \"v1\"", "Content-Range: bytes 5-9/*"]),
        Answer(testDescription: "no range", fields: ["ETag: \"v1\""]),
        Answer(
            testDescription: "two ranges",
            fields: ["ETag: \"v1\"", "Content-Range: bytes 5-9/10", "Content-Range: bytes 5-9/10"]),
        Answer(
            testDescription: "a range with a sign", fields: ["ETag: \"v1\"", "Content-Range: bytes +5-9/10"]),
        Answer(
            testDescription: "a range in another unit",
            fields: ["ETag: \"v1\"", "Content-Range: lines 5-9/10"]),
        Answer(
            testDescription: "numbers that are too large",
            fields: ["ETag: \"v1\"", "Content-Range: bytes 5-9223372036854775808/9223372036854775809"]),
        Answer(
            testDescription: "the largest numbers",
            fields: [
                "ETag: \"v1\"", "Content-Range: bytes 5-9223372036854775806/9223372036854775807",
            ], record: "\"v1\"\n"),
        Answer(testDescription: "more than the range", body: "worldworldworldworld"),
        Answer(testDescription: "less than the range", body: "wor"),
        Answer(
            testDescription: "more than the range, in chunks", framing: "Transfer-Encoding: chunked",
            body: "5\r\nworld\r\n5\r\nworld\r\n0\r\n\r\n"),
        Answer(
            testDescription: "more than the range, in chunks beside a length, cut",
            framing: "Transfer-Encoding: chunked\r\nContent-Length: 5", body: "a\r\nworldworld\r\n"),
        Answer(
            testDescription: "less than the range, in chunks", framing: "Transfer-Encoding: chunked",
            body: "3\r\nwor\r\n0\r\n\r\n"),
        Answer(
            testDescription: "more than the range, up to the end", framing: "X-None: 1", body: "worldworld"),
        Answer(
            testDescription: "a coded part",
            fields: ["ETag: \"v1\"", "Content-Range: bytes 5-9/10", "Content-Encoding: gzip"]),
        Answer(testDescription: "the whole", status: "200 OK", fields: ["ETag: \"v2\""], body: "other"),
        Answer(testDescription: "another success", status: "203 Fine", fields: ["ETag: \"v1\""]),
        Answer(
            testDescription: "the end of another version", status: "416 Range Not Satisfiable",
            fields: ["ETag: \"v2\"", "Content-Range: bytes */5"], body: ""),
        Answer(
            testDescription: "an end that comes too early", status: "416 Range Not Satisfiable",
            fields: ["ETag: \"v1\"", "Content-Range: bytes */5"], body: ""),
        Answer(
            testDescription: "no total where none was noted", fields: ["Content-Range: bytes 5-9/*"],
            record: nil),
        Answer(
            testDescription: "more than the range where none was noted", body: "worldworldworldworld",
            record: nil),
    ]

    static let accepted: [Answer] = [
        Answer(testDescription: "the rest"),
        Answer(
            testDescription: "the rest, in chunks", framing: "Transfer-Encoding: chunked",
            body: "5\r\nworld\r\n0\r\n\r\n"),
        Answer(testDescription: "the rest, up to the end", framing: "X-None: 1"),
        Answer(
            testDescription: "the rest of what nobody has noted", fields: ["Content-Range: bytes 5-9/10"],
            record: nil),
        Answer(testDescription: "the rest where only the version is noted", record: "\"v1\"\n"),
        Answer(
            testDescription: "the same date",
            fields: [
                "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Content-Range: bytes 5-9/10",
            ], record: "Mon, 01 Jan 2024 00:00:00 GMT\n10\n"),
        Answer(
            testDescription: "no date", fields: ["Content-Range: bytes 5-9/10"],
            record: "Mon, 01 Jan 2024 00:00:00 GMT\n10\n"),
    ]

    /// Resumes the download of `begun`, and calls `body` with the result.
    private func resume(_ answer: Answer, _ body: (Shell.Result, Shell) throws -> Void) async throws {
        try await withShell { shell, origin in
            try shell.write("begun", to: "part")
            if let record = answer.record { try shell.write(record, to: "part.lupine-part") }
            let framing = answer.framing ?? "Content-Length: \(answer.body.utf8.count)"
            let head = (["HTTP/1.1 \(answer.status)", framing, "Connection: close"] + answer.fields)
                .joined(separator: "\r\n")
            origin.script(
                "GET", "/x", ScriptPlan([Script([.send(head + "\r\n\r\n" + answer.body), .close])]))
            let result = await shell.run("-s -S -C - -o part :\(origin.port)/x")
            try body(result, shell)
        }
    }

    @Test(arguments: refused)
    func aMismatchLeavesTheFileUnchanged(_ answer: Answer) async throws {
        try await resume(answer) { result, shell in
            #expect(result.code == answer.code.rawValue, "\(result.errors)")
            #expect(result.errors.replacing("\n", with: " ").contains(answer.error), "\(result.errors)")
            let kept = String(decoding: try shell.read("part"), as: UTF8.self)
            #expect(kept == "begun")
            let record = (try? shell.read("part.lupine-part")).map { String(decoding: $0, as: UTF8.self) }
            #expect(record == answer.record)
        }
    }

    @Test(arguments: accepted)
    func aMatchingPartIsAppended(_ answer: Answer) async throws {
        try await resume(answer) { result, shell in
            #expect(result.code == 0, "\(result.errors)")
            let whole = String(decoding: try shell.read("part"), as: UTF8.self)
            #expect(whole == "begunworld")
            #expect(throws: (any Error).self) { try shell.read("part.lupine-part") }
        }
    }

    /// Checks that the error names both versions.
    @Test func errorsNameBothVersions() async throws {
        try await resume(Self.refused[0]) { result, _ in
            let text = result.errors.replacing("\n", with: " ")
            #expect(text.contains("\"v1\"") && text.contains("\"v2\""), "\(result.errors)")
        }
    }

    /// Checks that content of a file or data URL, which has no version and no ranges, does not change the partial file.
    @Test(arguments: ["file", "data"])
    func fileAndDataURLsLeaveThePartialFileUnchanged(_ scheme: String) async throws {
        try await withShell { shell, _ in
            try shell.write("begun", to: "part")
            try shell.write("begunworld", to: "whole")
            let address = scheme == "file" ? "file://\(shell.folder)/whole" : "data:,begunworld"
            let result = await shell.run("-s -S -C - -o part \(address)")
            #expect(result.code != 0)
            let kept = String(decoding: try shell.read("part"), as: UTF8.self)
            #expect(kept == "begun")
        }
    }

    /// Checks that a file shorter than the offset is not resumed, since writing at the offset would leave a hole.
    @Test func anOffsetBeyondTheFileIsRefused() async throws {
        try await withShell { shell, origin in
            try shell.write("abc", to: "part")
            let result = await shell.run("-s -S -C 10 -o part :\(origin.port)/range/20")
            #expect(result.code == ExitCode.resume.rawValue, "\(result.errors)")
            let kept = try shell.read("part")
            #expect(kept == Data("abc".utf8))
        }
    }

    /// Checks that bytes of the old file after the new end are removed.
    @Test func oldBytesAfterTheNewEndAreRemoved() async throws {
        try await withShell { shell, origin in
            try shell.write("abcxxxxxxxxxxxxx", to: "part")
            let result = await shell.run("-s -S -C 3 -o part :\(origin.port)/range/5")
            #expect(result.code == 0, "\(result.errors)")
            let kept = String(decoding: try shell.read("part"), as: UTF8.self)
            #expect(kept == "abcde")
        }
    }

    /// Checks that a resumed download that was interrupted is resumed again from its new end.
    @Test func anInterruptedPartIsResumed() async throws {
        try await withShell { shell, origin in
            try shell.write("begun", to: "part")
            try shell.write("\"v1\"\n10\n", to: "part.lupine-part")
            let head = "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nConnection: close\r\n"
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([
                        .send(head + "Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\nwo"), .close,
                    ]),
                    Script([
                        .send(head + "Content-Range: bytes 7-9/10\r\nContent-Length: 3\r\n\r\nrld"), .close,
                    ]),
                ]))
            let cut = await shell.run("-s -S -C - -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            let whole = await shell.run("-s -S -C - -o part :\(origin.port)/x")
            #expect(whole.code == 0, "\(whole.errors)")
            let kept = String(decoding: try shell.read("part"), as: UTF8.self)
            #expect(kept == "begunworld")
        }
    }

    /// Checks that old bytes after the offset are removed even if the resumed download is interrupted, so that they are not
    /// mistaken for content later.
    @Test func oldBytesAfterAnInterruptedPartAreRemoved() async throws {
        try await withShell { shell, origin in
            try shell.write("begunXXXXX", to: "part")
            let head = "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nConnection: close\r\n"
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([
                        .send(head + "Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\nwo"), .close,
                    ])
                ]))
            let cut = await shell.run("-s -S -C 5 -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            let kept = String(decoding: try shell.read("part"), as: UTF8.self)
            #expect(kept == "begunwo")
        }
    }

    /// Checks that a 304 leaves a partial file and its resume record unchanged.
    @Test(arguments: ["-z part", "-z part -C -", "--etag-compare tag", "--etag-compare tag -C -"])
    func anUnchangedPartialFileStaysPartial(_ options: String) async throws {
        try await withShell { shell, origin in
            try shell.write("begun", to: "part")
            try shell.write("\"v1\"\n10\n", to: "part.lupine-part")
            try shell.write("\"v2\"\n", to: "tag")
            origin.script(
                "GET", "/x",
                ScriptPlan([Script([.send("HTTP/1.1 304 Not Modified\r\nETag: \"v2\"\r\n\r\n"), .close])]))
            let result = await shell.run("\(options) -o part :\(origin.port)/x")
            #expect(result.code == 0 && result.errors.contains("part is a part"), "\(result.errors)")
            let kept = [try shell.read("part"), try shell.read("part.lupine-part")]
            #expect(kept == [Data("begun".utf8), Data("\"v1\"\n10\n".utf8)])
        }
    }

    /// Checks that the length in the first response is recorded, and that a part of content with another length is refused.
    @Test func aDownloadRecordsItsLength() async throws {
        try await withShell { shell, origin in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n"
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([.send(head + "\r\nbegun"), .close]),
                    Script([
                        .send(
                            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-10/11\r\nContent-Length: 6\r\n\r\nworlds"
                        ), .close,
                    ]),
                ]))
            let cut = await shell.run("-s -S -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            let other = await shell.run("-s -S -C - -o part :\(origin.port)/x")
            #expect(other.code == ExitCode.resume.rawValue, "\(other.errors)")
            let kept = try shell.read("part")
            #expect(kept == Data("begun".utf8))
        }
    }

    // MARK: heads, codings, dates

    /// Checks that a file that begins with a head is not resumed, since it is not a part of the server's content.
    @Test func aFileThatBeginsWithAHeadIsNotResumed() async throws {
        try await withShell { shell, origin in
            let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n"
            origin.script("GET", "/x", ScriptPlan([Script([.send(head + "begun"), .close])]))
            let cut = await shell.run("-S -i -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            #expect(!cut.errors.contains("-C -"), "\(cut.errors)")
            #expect(throws: (any Error).self) { try shell.read("part.lupine-part") }
            let before = try shell.read("part")
            for options in ["-i -C -", "-C 5 -i", "-I -C -"] {
                let refused = await shell.run("\(options) -o part :\(origin.port)/x")
                #expect(refused.code == ExitCode.usage.rawValue, "\(options): \(refused.errors)")
                #expect(refused.errors.contains("-C"), "\(refused.errors)")
            }
            let after = try shell.read("part")
            #expect(after == before)
        }
    }

    /// Checks that a file is resumed only in the content coding in which it was begun.
    ///
    /// - Parameters:
    ///   - firstOptions: The options of the first command line.
    ///   - firstCoding: The content coding of the response to it.
    ///   - secondOptions: The options of the second command line.
    ///   - secondCoding: The content coding of the response to it.
    ///   - isResumed: Whether the download is resumed.
    @Test(arguments: [
        ("--raw-encoding", "gzip", "", "", false), ("--raw-encoding", "gzip", "--raw-encoding", "", false),
        ("", "", "--raw-encoding", "gzip", false), ("--raw-encoding", "", "", "", true),
        ("--raw-encoding", "gzip", "--raw-encoding", "gzip", true),
        ("--raw-encoding", "gzip", "--raw-encoding", "br", false),
        ("--raw-encoding", "", "--raw-encoding", "identity", true),
    ])
    func aDownloadIsResumedInItsContentCodingOnly(
        _ firstOptions: String, _ firstCoding: String, _ secondOptions: String, _ secondCoding: String,
        _ isResumed: Bool
    ) async throws {
        try await withShell { shell, origin in
            let coding = { (name: String) in name.isEmpty ? "" : "Content-Encoding: \(name)\r\n" }
            let begun = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n" + coding(firstCoding)
            let rest =
                "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n"
                + coding(secondCoding)
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([.send(begun + "\r\nbegun"), .close]),
                    Script([.send(rest + "\r\nworld"), .close]),
                ]))
            let cut = await shell.run("-s -S \(firstOptions) -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            let result = await shell.run("-s -S \(secondOptions) -C - -o part :\(origin.port)/x")
            #expect(result.code == (isResumed ? .success : ExitCode.resume).rawValue, "\(result.errors)")
            let kept = String(decoding: try shell.read("part"), as: UTF8.self)
            #expect(kept == (isResumed ? "begunworld" : "begun"))
        }
    }

    /// Checks that a date is a validator only if the response was made at least a second later (RFC 9110 §8.8.2.2).
    @Test(arguments: [
        ("Mon, 01 Jan 2024 00:00:01 GMT", true), ("Mon, 01 Jan 2024 01:00:00 GMT", true),
        ("Mon, 01 Jan 2024 00:00:00 GMT", false), ("Sun, 31 Dec 2023 23:59:59 GMT", false), (nil, false),
        ("soon", false),
    ])
    func aRecentDateIsNoValidator(_ date: String?, _ isValidator: Bool) async throws {
        try await withShell { shell, origin in
            let field = date.map { "Date: \($0)\r\n" } ?? ""
            let head =
                "HTTP/1.1 200 OK\r\n\(field)Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Length: 10\r\n\r\n"
            origin.script("GET", "/x", ScriptPlan([Script([.send(head + "begun"), .close])]))
            let cut = await shell.run("-s -S -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            let record = ResumeRecord.read(for: shell.folder + "/part")
            #expect(record?.validator == (isValidator ? "Mon, 01 Jan 2024 00:00:00 GMT" : nil))
            #expect(record?.total == 10)
        }
    }

    /// Checks that a validator is recorded if it is as long as a head allows.
    @Test func longValidatorsAreRecorded() async throws {
        try await withShell { shell, origin in
            let tag = "\"" + String(repeating: "e", count: 30_000) + "\""
            let head = "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: 10\r\n\r\n"
            origin.script("GET", "/x", ScriptPlan([Script([.send(head + "begun"), .close])]))
            let cut = await shell.run("-s -S -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            let record = ResumeRecord.read(for: shell.folder + "/part")
            #expect(record == ResumeRecord(validator: tag, total: 10))
        }
    }

    /// Checks that without a recorded validator the command reports that it cannot check the version, and resumes as curl does.
    @Test(arguments: [nil, "\n10\n", "\"v1\"\n10\n"])
    func aMissingValidatorIsReported(_ record: String?) async throws {
        try await withShell { shell, origin in
            try shell.write("begun", to: "part")
            if let record { try shell.write(record, to: "part.lupine-part") }
            let rest =
                "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n"
            origin.script("GET", "/x", ScriptPlan([Script([.send(rest + "\r\nworld"), .close])]))
            let result = await shell.run("-C - -o part :\(origin.port)/x")
            #expect(result.code == 0, "\(result.errors)")
            #expect(
                result.errors.contains("version") == (record?.hasPrefix("\"") != true), "\(result.errors)")
        }
    }
}
