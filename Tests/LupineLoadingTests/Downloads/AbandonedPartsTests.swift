// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

/// The removal of the parts of abandoned downloads, and of nothing else.
struct AbandonedPartsTests {
    private static let part = "LupineDownload-5F1F5E0B-4C6A-4F51-9E4C-0C2B8B8F2A11.tmp"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var name = AbandonedPartsTests.part
        var age = AbandonedParts.retentionTime + 60
        var kind = "file"
        let isKept: Bool
    }

    @Test(
        "[U-7.14] a partial file is kept for a week",
        arguments: [
            Row(testDescription: "an old part", isKept: false),
            Row(testDescription: "a recent part", age: AbandonedParts.retentionTime - 60, isKept: true),
            Row(testDescription: "a file dated in the future", age: -60, isKept: true),
            Row(testDescription: "another file", name: "LupineDownload-mine.tmp", isKept: true),
            Row(testDescription: "a longer name", name: part + "x", isKept: true),
            Row(testDescription: "a folder", kind: "folder", isKept: true),
            Row(testDescription: "a link", kind: "link", isKept: true),
        ])
    func sweeps(_ row: Row) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "parts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent(row.name)
        switch row.kind {
        case "folder": try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        case "link":
            try FileManager.default.createSymbolicLink(
                at: place, withDestinationURL: folder.appendingPathComponent("nowhere"))
        default: try Data("part".utf8).write(to: place)
        }
        let written = try #require(
            try FileManager.default.attributesOfItem(atPath: place.path)[.modificationDate] as? Date)
        AbandonedParts.remove(in: folder, at: written.addingTimeInterval(row.age))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == (row.isKept ? [row.name] : []))
    }

    @Test("[U-7.14] an abandoned download leaves no partial file, and invalid resume data harms nothing")
    func abandonedDownload() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("given-\(UUID().uuidString)")
        try Data("01234".utf8).write(to: file)
        let url = try #require(URL(string: "https://files.example/a"))
        let data = try #require(
            ResumeData(url: url, fields: [], validator: .entityTag("\"v1\""), received: 5, file: file.path)
                .data)
        URLSession.discardDownload(withResumeData: Data("nonsense".utf8))
        #expect(FileManager.default.fileExists(atPath: file.path))
        for _ in 0..<2 { URLSession.discardDownload(withResumeData: data) }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
