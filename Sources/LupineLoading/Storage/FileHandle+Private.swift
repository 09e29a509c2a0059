// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Opens files with `O_CLOEXEC`, unlike Foundation's initializers, so that no child process inherits the descriptor of a cookie
/// file, of a cache's key or of a body. The functions block, as Foundation's do. The handles own the descriptors that `release()`
/// returns, and close them.
extension FileHandle {
    /// Opens a file for reading.
    static func reading(_ file: URL) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        return FileHandle(
            fileDescriptor: try Descriptor.reading(path: file.path).release(), closeOnDealloc: true)
    }

    /// Opens a file whose content the library trusts, for reading. Throws if the file belongs to another user, or if other users
    /// can write to it. `allowsPipe` tells whether the file may be a pipe.
    static func readingOwn(_ file: URL, allowsPipe: Bool = false) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        let descriptor = try Descriptor.readingOwn(path: file.path, mayBePipe: allowsPipe)
        return FileHandle(fileDescriptor: descriptor.release(), closeOnDealloc: true)
    }

    /// Creates a new file, accessible to its owner only, for writing.
    static func creating(_ file: URL) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
        return FileHandle(
            fileDescriptor: try Descriptor.creating(path: file.path).release(), closeOnDealloc: true)
    }
}
