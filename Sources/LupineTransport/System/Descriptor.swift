// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// A file descriptor with exactly one owner.
///
/// The descriptor is closed exactly once: when the value goes out of scope, or when `close()` consumes it. `Socket` and
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

    /// Closes the descriptor. The body is empty, because consuming the value runs its `deinit`.
    package consuming func close() {}

    /// Gives up ownership: the caller closes the descriptor.
    package consuming func release() -> Int32 {
        let fd = rawValue
        // Ends the value without running its `deinit`.
        discard self
        return fd
    }
}

extension Descriptor {
    /// Opens a regular file for reading, close-on-exec. Throws `.isDirectory` for a folder, and `.invalidArgument` for a file of
    /// another type, which is not read. Opening never waits for the other end of a pipe.
    package static func reading(path: String) throws(Errno) -> Descriptor {
        let file = Descriptor(
            adopting: try Syscalls.open(path, flags: O_RDONLY | O_CLOEXEC | O_NONBLOCK, mode: 0))
        try Syscalls.checkIsRegularFile(file.rawValue)
        return file
    }

    /// Opens a file for reading that belongs to the process's user and that no other user can write to. Throws `.notPermitted`
    /// for any other file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - mayBePipe: Whether a pipe of the user is accepted too; opening a pipe waits for the other end. If false, only a
    ///     regular file is accepted, and opening a file of another type does not block.
    package static func readingOwn(path: String, mayBePipe: Bool = false) throws(Errno) -> Descriptor {
        let flags = O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK)
        let file = Descriptor(adopting: try Syscalls.open(path, flags: flags, mode: 0))
        guard try Syscalls.isOwnFile(file.rawValue, orPipe: mayBePipe) else { throw .notPermitted }
        return file
    }

    /// Opens a file for writing from its start. Creates the file with mode 0600 if it does not exist, and truncates it otherwise.
    package static func writing(path: String) throws(Errno) -> Descriptor {
        Descriptor(
            adopting: try Syscalls.open(path, flags: O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode: 0o600))
    }

    /// Duplicates a descriptor of the program. The two share one file position; the program's descriptor stays open. Throws
    /// `invalidArgument` if the file is not open for writing, or has no position, as a pipe has none.
    package static func sharing(_ number: Int32) throws(Errno) -> Descriptor {
        Descriptor(adopting: try Syscalls.shareForWriting(number))
    }

    /// Returns the length of the file; the file position does not change.
    package func fileSize() throws(Errno) -> Int64 { try Syscalls.fileSize(rawValue) }

    /// Reads the available bytes into the free part of `output`.
    package func read(into output: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        let fd = rawValue
        return try unsafe ReadOutcome.filling(&output) { buffer throws(Errno) in
            try unsafe Syscalls.read(fd, buffer)
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
