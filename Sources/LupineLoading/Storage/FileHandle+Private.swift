// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Opens files with `O_CLOEXEC`, unlike Foundation's initializers, so that no child process inherits a cookie file, a cache's key
/// or a body. The calls block, as Foundation's do.
extension FileHandle {
    /// Opens a file for reading.
    static func reading(_ file: URL) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        return FileHandle(
            fileDescriptor: try Descriptor.reading(path: file.path).release(), closeOnDealloc: true)
    }

    /// Opens a file for reading whose content is trusted: throws if it belongs to another user, or if other users can write to
    /// it.
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
