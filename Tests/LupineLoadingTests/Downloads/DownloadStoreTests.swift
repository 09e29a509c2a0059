// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// The file of a download: created, written, handed over, kept for resuming, and never left behind.
struct DownloadStoreTests {
    private let folder: DownloadFolder
    private let request: URLRequest

    init() throws {
        folder = try DownloadFolder()
        request = URLRequest(url: try #require(URL(string: "https://files.example/a")))
    }

    private static let resumable = ["Accept-Ranges": "bytes", "ETag": "\"v1\"", "Content-Length": "10"]

    private func response(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
        let url = try #require(request.url)
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    }

    private func store(_ text: String, _ sink: DownloadStore, _ plan: DownloadStore.Plan) throws {
        guard case .store(let target, _) = plan else { throw Unexpected(plan: "\(plan)") }
        try target.write(Array(text.utf8).span)
        sink.countWritten(text.utf8.count)
    }

    struct Unexpected: Error { let plan: String }

    @Test("[U-7.9] a complete download is a file that only its owner can read") func whole() throws {
        let sink = DownloadStore(request, folder: folder.url)
        try store(
            "0123456789", sink, sink.plan(for: try response(200, ["Content-Length": "10"]), isDecoded: false))
        #expect(sink.count == DownloadStore.Count(written: 10, expected: 10))
        let file = try sink.finish().get()
        #expect(try Data(contentsOf: file.url) == Data("0123456789".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        file.remove()
        #expect(try names() == [])
    }

    @Test("[U-7.9] a response without content gives an empty file, whatever its status") func empty() throws {
        let sink = DownloadStore(request, folder: folder.url)
        guard case .store(_, nil) = sink.plan(for: try response(404, [:]), isDecoded: false) else {
            Issue.record("nothing to store into")
            return
        }
        #expect(try DownloadDelegate.content(of: try sink.finish().get().url) == Data())
    }

    @Test("[U-7.12] a partial file is kept and resumed") func partIsGoneOnWith() throws {
        let first = DownloadStore(request, folder: folder.url)
        try store("01234", first, first.plan(for: try response(200, Self.resumable), isDecoded: false))
        let data = try #require(first.stop(keepsPart: true))
        #expect(first.stop(keepsPart: true) == nil, "only the first call counts")
        let part = try #require(ResumeData(data))
        #expect(part.received == 5 && part.validator == .entityTag("\"v1\""))

        let second = DownloadStore(resuming: part, folder: folder.url)
        #expect(second.requestToSend.value(forHTTPHeaderField: "Range") == "bytes=5-" && !second.mayDecode)
        let partialResponse = try response(206, ["Content-Range": "bytes 5-9/10", "Content-Length": "5"])
        let plan = second.plan(for: partialResponse, isDecoded: false)
        guard case .store(_, (5, 10)?) = plan else {
            Issue.record("\(plan)")
            return
        }
        try store("56789", second, plan)
        #expect(second.count == DownloadStore.Count(written: 10, expected: 10))
        #expect(try Data(contentsOf: try second.finish().get().url) == Data("0123456789".utf8))
    }

    @Test(
        "[U-7.13] a resumed download that stops again can be resumed, though the partial response has no validator"
    )
    func stopsTwice() throws {
        let first = DownloadStore(request, folder: folder.url)
        try store("01234", first, first.plan(for: try response(200, Self.resumable), isDecoded: false))
        let part = try #require(first.stop(keepsPart: true).flatMap { ResumeData($0) })
        let second = DownloadStore(resuming: part, folder: folder.url)
        let partialResponse = try response(206, ["Content-Range": "bytes 5-9/10"])
        try store("56", second, second.plan(for: partialResponse, isDecoded: false))
        let secondResumeData = try #require(second.stop(keepsPart: true).flatMap { ResumeData($0) })
        #expect(
            secondResumeData.received == 7 && secondResumeData.validator == part.validator
                && secondResumeData.fields == part.fields)
        #expect(try Data(contentsOf: URL(fileURLWithPath: secondResumeData.file)) == Data("0123456".utf8))
    }

    @Test("[U-7.13] an attempt without a response leaves the partial file unchanged") func noAnswer() throws {
        let first = DownloadStore(request, folder: folder.url)
        try store("01234", first, first.plan(for: try response(200, Self.resumable), isDecoded: false))
        let data = try #require(first.stop(keepsPart: true))
        let second = DownloadStore(resuming: try #require(ResumeData(data)), folder: folder.url)
        #expect(second.stop(keepsPart: true).flatMap { ResumeData($0) } == ResumeData(data))
        #expect(try names().count == 1)
    }

    @Test("[U-7.14] bytes after the recorded length are cut off") func longerPart() throws {
        let path = folder.url.appendingPathComponent("part").path
        try Self.keep("01234garbage", at: path)
        let part = ResumeData(
            url: try #require(request.url), fields: [], validator: .entityTag("\"v1\""), received: 5,
            file: path)
        let sink = DownloadStore(resuming: part, folder: folder.url)
        let partialResponse = try response(206, ["Content-Range": "bytes 5-9/10"])
        try store("56789", sink, sink.plan(for: partialResponse, isDecoded: false))
        #expect(try Data(contentsOf: try sink.finish().get().url) == Data("0123456789".utf8))
    }

    @Test(
        "[U-7.14] another version starts over and removes the old partial file"
    ) func anotherVersion() throws {
        let path = folder.url.appendingPathComponent("part").path
        try Self.keep("01234", at: path)
        let part = ResumeData(
            url: try #require(request.url), fields: [], validator: .entityTag("\"v1\""), received: 5,
            file: path)
        let sink = DownloadStore(resuming: part, folder: folder.url)
        let plan = sink.plan(for: try response(200, ["Content-Length": "3"]), isDecoded: false)
        guard case .store(_, nil) = plan else {
            Issue.record("\(plan)")
            return
        }
        try store("new", sink, plan)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try Data(contentsOf: try sink.finish().get().url) == Data("new".utf8))
    }

    @Test("[U-7.14] 416 for a complete partial file completes the download") func wholePart() throws {
        let path = folder.url.appendingPathComponent("part").path
        try Self.keep("01234", at: path)
        let part = ResumeData(
            url: try #require(request.url), fields: [], validator: .entityTag("\"v1\""), received: 5,
            file: path)
        let sink = DownloadStore(resuming: part, folder: folder.url)
        let plan = sink.plan(for: try response(416, ["Content-Range": "bytes */5"]), isDecoded: false)
        guard case .complete = plan else {
            Issue.record("\(plan)")
            return
        }
        #expect(try Data(contentsOf: try sink.finish().get().url) == Data("01234".utf8))
    }

    /// Writes a part as a download leaves it behind.
    private static func keep(_ text: String, at path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test(
        "[U-7.14] a partial file is not resumed if it is missing, too short, a folder, a link, or accessible to others",
        arguments: [
            "missing", "short", "folder", "link", "written by all", "read by the group", "of two names",
            "of another user",
        ])
    func uselessPart(_ kind: String) throws {
        let place = folder.url.appendingPathComponent("part")
        switch kind {
        case "short": try Self.keep("0", at: place.path)
        case "written by all", "read by the group":
            try Self.keep("0123456789", at: place.path)
            try FileManager.default.setAttributes(
                [.posixPermissions: kind == "written by all" ? 0o666 : 0o640], ofItemAtPath: place.path)
        case "of two names":
            try Self.keep("0123456789", at: place.path)
            try FileManager.default.linkItem(
                at: place, to: folder.url.appendingPathComponent("second name"))
        case "of another user":
            // Only root can change the owner of a file.
            guard geteuid() == 0 else { return }
            try Self.keep("0123456789", at: place.path)
            try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: place.path)
        case "folder": try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        case "link":
            let real = folder.url.appendingPathComponent("real")
            try Self.keep("0123456789", at: real.path)
            try FileManager.default.createSymbolicLink(at: place, withDestinationURL: real)
        default: break
        }
        let part = ResumeData(
            url: try #require(request.url), fields: [HeaderList.Field(name: "X-Key", value: "1")],
            validator: .entityTag("\"v1\""), received: 5, file: place.path)
        let sink = DownloadStore(resuming: part, folder: folder.url)
        #expect(sink.requestToSend.value(forHTTPHeaderField: "Range") == nil)
        #expect(sink.requestToSend.value(forHTTPHeaderField: "X-Key") == "1" && sink.mayDecode)
    }

    @Test("[U-7.12] a download that cannot be resumed leaves no file", arguments: [true, false])
    func noPartIsKept(_ keepsPart: Bool) throws {
        let sink = DownloadStore(request, folder: folder.url)
        let fields = keepsPart ? ["Content-Length": "10"] : Self.resumable
        try store("01234", sink, sink.plan(for: try response(200, fields), isDecoded: false))
        #expect(sink.stop(keepsPart: keepsPart) == nil)
        #expect(try names() == [])
    }

    @Test("[U-7.12] a download without a byte cannot be resumed") func noBytes() throws {
        let sink = DownloadStore(request, folder: folder.url)
        _ = sink.plan(for: try response(200, Self.resumable), isDecoded: false)
        #expect(sink.stop(keepsPart: true) == nil)
        #expect(try names() == [])
    }

    @Test("a response after the end leaves no file") func lateResponse() throws {
        let sink = DownloadStore(request, folder: folder.url)
        #expect(sink.stop(keepsPart: true) == nil)
        _ = sink.plan(for: try response(200, Self.resumable), isDecoded: false)
        #expect(try names() == [])
    }

    @Test("[U-7.11] a missing folder: the file cannot be created") func noFolder() throws {
        let sink = DownloadStore(request, folder: folder.url.appendingPathComponent("missing"))
        guard
            case .fail(.cannotCreateFile, let reason, .noSuchFile?) =
                sink.plan(for: try response(200, [:]), isDecoded: false)
        else {
            Issue.record("it was made")
            return
        }
        #expect(reason.contains("missing"))
    }
}

/// A temporary folder, removed at the end of the test.
private final class DownloadFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
        "lupine-test-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }
}
