// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// A file descriptor with exactly one owner.
///
/// The descriptor is closed when the value goes out of scope or is consumed by `close()`, and so exactly once. `Socket` and
/// `SplicePipe` know what kind of file it is. Usable on any thread, but only on one at a time.
package struct Descriptor: ~Copyable, Sendable {
    /// The number for system calls. Callers must not store it.
    package let rawValue: Int32

    /// Takes ownership of an open descriptor: nothing else may close it.
    package init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "a descriptor is never negative")
        self.rawValue = rawValue
    }

    deinit { Syscalls.close(rawValue) }

    /// Closes now: consuming the value runs its `deinit`.
    package consuming func close() {}

    /// Gives up ownership: the caller closes the descriptor.
    package consuming func release() -> Int32 {
        let fd = rawValue
        discard self
        return fd
    }
}

extension Descriptor {
    /// Opens a regular file for reading, close-on-exec.
    package static func reading(path: String) throws(Errno) -> Descriptor {
        Descriptor(adopting: try Syscalls.open(path, flags: O_RDONLY | O_CLOEXEC, mode: 0))
    }

    /// Opens a file for reading that belongs to the user and that no other user can write to. Throws `.notPermitted` for any
    /// other file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - mayBePipe: Whether a pipe of the user is accepted; opening it waits for the other end. Otherwise only a regular file
    ///     is accepted, and opening a file of another kind does not block.
    package static func readingOwn(path: String, mayBePipe: Bool = false) throws(Errno) -> Descriptor {
        let flags = O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK)
        let file = Descriptor(adopting: try Syscalls.open(path, flags: flags, mode: 0))
        guard try Syscalls.isOwnFile(file.rawValue, orPipe: mayBePipe) else { throw .notPermitted }
        return file
    }

    /// Opens a file for writing from its start, created with mode 0600 or truncated.
    package static func writing(path: String) throws(Errno) -> Descriptor {
        Descriptor(
            adopting: try Syscalls.open(path, flags: O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode: 0o600))
    }

    /// Duplicates a descriptor of the program; both share one file position, and the program's stays open. Throws if the file
    /// cannot be written at a position.
    package static func sharing(_ number: Int32) throws(Errno) -> Descriptor {
        Descriptor(adopting: try Syscalls.shareForWriting(number))
    }

    /// Returns the length of the file; the file position does not change.
    package func fileSize() throws(Errno) -> Int64 { try Syscalls.fileSize(rawValue) }

    /// Reads the available bytes into the free part of `output`.
    package func read(into output: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        let fd = rawValue
        return try unsafe ReadOutcome.filling(&output) { free throws(Errno) in
            try unsafe Syscalls.read(fd, free)
        }
    }

    /// Reads from `offset` of a file into the beginning of `buffer`, which must not be empty. The file position is neither used
    /// nor changed.
    package func read(into buffer: inout MutableSpan<UInt8>, at offset: Int64) throws(Errno) -> ReadOutcome {
        precondition(!buffer.isEmpty, "there is no room to read into")
        let fd = rawValue
        return try unsafe buffer.withUnsafeMutableBytes { raw throws(Errno) in
            try ReadOutcome.of { () throws(Errno) in try unsafe Syscalls.read(fd, raw, at: offset) }
        }
    }

    /// Writes the beginning of `bytes`, as much as the kernel accepts.
    package func write(_ bytes: Span<UInt8>) throws(Errno) -> WriteOutcome {
        let fd = rawValue
        return try WriteOutcome.of { () throws(Errno) in
            try unsafe bytes.withUnsafeBytes { raw throws(Errno) in try unsafe Syscalls.write(fd, raw) }
        }
    }
}
