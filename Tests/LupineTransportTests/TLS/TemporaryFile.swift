// SPDX-License-Identifier: MIT

import Glibc

@testable import LupineTransport

/// A file that a test creates and removes.
enum TemporaryFile {
    /// Returns an unused path.
    static func path() -> String { "/tmp/lupine-test-\(UInt64.random(in: 0 ... .max))" }

    /// Creates a file that contains `bytes`, and returns its path.
    static func make(_ bytes: [UInt8]) throws -> String {
        let path = path()
        let file = try Descriptor.writing(path: path)
        var start = 0
        while start < bytes.count {
            guard case .bytes(let count) = try file.write(bytes.span.extracting(start...)) else { break }
            start += count
        }
        return path
    }

    /// Removes the file.
    static func remove(_ path: String) { _ = unsafe unlink(path) }
}
