// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Opens files close-on-exec, which Foundation's initializers do not, so that no child process inherits a cookie file, a cache's
/// key or a body. The calls block, as Foundation's do.
extension FileHandle {
    /// Opens a file for reading.
    static func reading(_ file: URL) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        return FileHandle(
            fileDescriptor: try Descriptor.reading(path: file.path).release(), closeOnDealloc: true)
    }

    /// The same for a file that belongs to the user and that no other user can write to: its content is trusted.
    static func readingOwn(_ file: URL, mayBePipe: Bool = false) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        let descriptor = try Descriptor.readingOwn(path: file.path, mayBePipe: mayBePipe)
        return FileHandle(fileDescriptor: descriptor.release(), closeOnDealloc: true)
    }

    /// Creates a new file, accessible to its owner only, for writing.
    static func creating(_ file: URL) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
        return FileHandle(
            fileDescriptor: try Descriptor.creating(path: file.path).release(), closeOnDealloc: true)
    }
}
