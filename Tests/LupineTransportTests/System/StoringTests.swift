// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineTransport

/// Files that store content: only their owner may access them, and losses are reported.
struct StoringTests {
    private let folder: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.path
    }

    /// Writes a file with these permissions, by default for its owner only.
    private func store(_ text: String, at path: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func clean() { try? FileManager.default.removeItem(atPath: folder) }

    /// A child process that is being started has a copy of every descriptor until its program begins.
    @Test func aLockIsReleasedAlthoughACopyOfItsDescriptorIsOpen() throws {
        defer { clean() }
        let path = folder + "/lock"
        guard let file = try Descriptor.locking(path: path) else {
            Issue.record("the lock is taken")
            return
        }
        let copy = Descriptor(adopting: try Syscalls.duplicate(file.rawValue))
        if let second = try Descriptor.locking(path: path) {
            Issue.record("the lock was taken twice: \(second.rawValue)")
        }
        file.unlock()
        file.close()
        guard let relocked = try Descriptor.locking(path: path) else {
            Issue.record("the copy keeps the lock")
            return
        }
        relocked.close()
        copy.close()
    }

    @Test func anExistingFileIsNotOverwritten() throws {
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

    @Test func aFileIsContinuedAfterItsFirstBytes() throws {
        defer { clean() }
        let path = folder + "/part"
        try store("0123456789", at: path)
        do {
            let target = FileTarget(try Descriptor.continuing(path: path, at: 4))
            try target.write(Array("xy".utf8).span)
            try target.confirmStored()
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("0123xy".utf8))
    }

    @Test func otherFilesAreNotContinued() throws {
        defer { clean() }
        try store("0123", at: folder + "/short")
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

    @Test("a file that others can change or read, or with several links, is left as it is")
    func filesAccessibleToOthersAreNotContinued() throws {
        defer { clean() }
        for mode in [0o602, 0o620, 0o666, 0o604, 0o640] {
            try store("0123456789", at: folder + "/\(mode)", mode: mode)
        }
        try store("0123456789", at: folder + "/first")
        try FileManager.default.linkItem(atPath: folder + "/first", toPath: folder + "/second")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let path = folder + "/" + name
            #expect(throws: Errno.invalidArgument, "\(name)") {
                _ = try Descriptor.continuing(path: path, at: 5).rawValue
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("0123456789".utf8))
        }
    }

    @Test func aStorageFailureIsReported() throws {
        defer { clean() }
        let target = FileTarget(try Descriptor.creating(path: folder + "/new"))
        #if DEBUG
            SyscallFaults.inject([.inputOutput], in: .close)
            #expect(throws: Errno.inputOutput) { try target.confirmStored() }
        #endif
        try target.confirmStored()
    }
}
