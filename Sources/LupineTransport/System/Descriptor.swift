// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// A file descriptor with exactly one owner.
///
/// It closes when it goes out of scope, at once when `close()` consumes it, and never twice. It knows
/// nothing of what it is open on; `Socket` and `SplicePipe` do. Any thread, one at a time.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, for system calls; it is borrowed, never kept.
    package let rawValue: Int32

    /// Takes over an open descriptor: nobody else may close it from here on.
    package init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "a descriptor is never negative")
        self.rawValue = rawValue
    }

    deinit { Syscalls.close(rawValue) }

    /// Closes now.
    package consuming func close() {}

    /// Gives up ownership: the caller closes.
    package consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}

extension Descriptor {
    /// Opens a regular file for reading, close-on-exec.
    package static func reading(path: String) throws(Errno) -> Descriptor {
        Descriptor(adopting: try Syscalls.open(path, flags: O_RDONLY | O_CLOEXEC, mode: 0))
    }

    /// Opens a file for reading that is the user's and that nobody else can write to; `.notPermitted` for any other.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - mayBePipe: Whether the user's own pipe will do, whose other end is waited for. Otherwise it is a regular file, and
    ///     whatever else has its name holds nobody up.
    package static func readingOwn(path: String, mayBePipe: Bool = false) throws(Errno) -> Descriptor {
        let flags = O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK)
        let file = Descriptor(adopting: try Syscalls.open(path, flags: flags, mode: 0))
        guard try Syscalls.isOwnFile(file.rawValue, orPipe: mayBePipe) else { throw .notPermitted }
        return file
    }

    /// Opens a file for writing from its start, created with mode 0600 or cut to nothing.
    package static func writing(path: String) throws(Errno) -> Descriptor {
        Descriptor(
            adopting: try Syscalls.open(path, flags: O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode: 0o600))
    }

    /// Another descriptor of the file that a program's descriptor is open on; both share one position. The program's stays its
    /// own. Throws where it cannot be written there.
    package static func sharing(_ number: Int32) throws(Errno) -> Descriptor {
        Descriptor(adopting: try Syscalls.shareForWriting(number))
    }

    /// How long the file is; the position is left where it was.
    package func fileSize() throws(Errno) -> Int64 { try Syscalls.fileSize(rawValue) }

    /// Reads as much as is there into the free part of `output`.
    package func read(into output: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        let number = rawValue
        return try unsafe ReadOutcome.filling(&output) { free throws(Errno) in
            try unsafe Syscalls.read(number, free)
        }
    }

    /// Reads a file over the beginning of `buffer`, which must not be empty, from `offset` on; the file's own position
    /// neither counts nor moves.
    package func read(into buffer: inout MutableSpan<UInt8>, at offset: Int64) throws(Errno) -> ReadOutcome {
        precondition(!buffer.isEmpty, "there is no room to read into")
        let number = rawValue
        return try unsafe buffer.withUnsafeMutableBytes { raw throws(Errno) in
            try ReadOutcome.of { () throws(Errno) in try unsafe Syscalls.read(number, raw, at: offset) }
        }
    }

    /// Writes the beginning of `bytes`, as much as the kernel takes.
    package func write(_ bytes: Span<UInt8>) throws(Errno) -> WriteOutcome {
        let number = rawValue
        return try WriteOutcome.of { () throws(Errno) in
            try unsafe bytes.withUnsafeBytes { raw throws(Errno) in try unsafe Syscalls.write(number, raw) }
        }
    }
}
