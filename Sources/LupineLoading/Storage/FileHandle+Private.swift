// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Files that are the process's own: close-on-exec, so that no program which is started meanwhile gets hold of a cookie
/// file, a cache's key or a body. Foundation's initialisers leave that out. They block, as those do.
extension FileHandle {
    /// Opens a file to read it.
    static func reading(_ file: URL) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        return FileHandle(
            fileDescriptor: try Descriptor.reading(path: file.path).release(), closeOnDealloc: true)
    }

    /// The same for a file of the user's own, which no other user can write to: what is believed without being asked about.
    static func readingOwn(_ file: URL, mayBePipe: Bool = false) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        let descriptor = try Descriptor.readingOwn(path: file.path, mayBePipe: mayBePipe)
        return FileHandle(fileDescriptor: descriptor.release(), closeOnDealloc: true)
    }

    /// Makes a file that is not there yet, for its owner only, to write it.
    static func creating(_ file: URL) throws -> FileHandle {
        guard file.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme) }
        return FileHandle(
            fileDescriptor: try Descriptor.creating(path: file.path).release(), closeOnDealloc: true)
    }
}
