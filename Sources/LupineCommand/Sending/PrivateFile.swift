// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Files that only their owner can read, from their first byte on.
enum PrivateFile {
    /// A file that is longer is none of ours.
    static let mostBytes = 16 << 20

    /// What a file holds that the user's secrets are kept in.
    static func read(_ path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        let data = try handle.read(upToCount: mostBytes + 1) ?? Data()
        guard data.count <= mostBytes else { throw CocoaError(.fileReadTooLarge) }
        return data
    }

    /// Replaces the file as a whole.
    static func write(_ data: Data, to path: String) throws {
        let temporary = path + ".\(UUID().uuidString.prefix(8))"
        guard
            FileManager.default.createFile(
                atPath: temporary, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteNoPermission) }
        do {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: temporary))
            try handle.write(contentsOf: data)
            try handle.close()
            // The one call that replaces a file in one step.
            guard unsafe rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }
}
