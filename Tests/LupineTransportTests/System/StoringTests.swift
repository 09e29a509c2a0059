// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineTransport

/// Files that content is kept in: nobody's but ours, and what is lost is said.
struct StoringTests {
    private let folder: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.path
    }

    private func clean() { try? FileManager.default.removeItem(atPath: folder) }

    @Test func aFileThatIsThereIsNotTakenOver() throws {
        defer { clean() }
        try Data("old".utf8).write(to: URL(fileURLWithPath: folder + "/there"))
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/link", withDestinationPath: folder + "/elsewhere")
        for name in ["there", "link"] {
            #expect(throws: Errno(rawValue: EEXIST)) {
                _ = try Descriptor.creating(path: folder + "/" + name).rawValue
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder + "/elsewhere"))
    }

    @Test func aFileIsGoneOnWithBehindItsFirstBytes() throws {
        defer { clean() }
        let path = folder + "/part"
        try Data("0123456789".utf8).write(to: URL(fileURLWithPath: path))
        do {
            let target = FileTarget(try Descriptor.continuing(path: path, at: 4))
            try target.write(Array("xy".utf8).span)
            try target.settle()
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("0123xy".utf8))
    }

    @Test func whatIsNoSuchFileIsNotGoneOnWith() throws {
        defer { clean() }
        try Data("0123".utf8).write(to: URL(fileURLWithPath: folder + "/short"))
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/link", withDestinationPath: folder + "/short")
        for (name, error) in [
            ("short", EINVAL), ("link", ELOOP), ("missing", ENOENT), (".", EISDIR), ("/dev/null", EINVAL),
        ] {
            #expect(throws: Errno(rawValue: error), "\(name)") {
                let path = name.hasPrefix("/") ? name : folder + "/" + name
                _ = try Descriptor.continuing(path: path, at: 5).rawValue
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/short")) == Data("0123".utf8))
    }

    @Test func aFileSystemThatCouldNotKeepItSaysSo() throws {
        defer { clean() }
        let target = FileTarget(try Descriptor.creating(path: folder + "/new"))
        #if DEBUG
            SyscallFaults.plant([.inputOutput], in: .close)
            #expect(throws: Errno.inputOutput) { try target.settle() }
        #endif
        try target.settle()
    }
}
