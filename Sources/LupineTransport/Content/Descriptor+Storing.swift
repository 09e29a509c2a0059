// SPDX-License-Identifier: MIT

internal import Glibc

/// Files that store content: created, continued, and checked after writing.
extension Descriptor {
    /// Creates a file for its owner only, open for writing. Throws `EEXIST` if there is a file or a link at the path, so the file
    /// is certainly new.
    package static func creating(path: String) throws(Errno) -> Descriptor {
        Descriptor(
            adopting: try Syscalls.open(
                path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode: 0o600))
    }

    /// Opens a file of at least `count` bytes that `creating` has created.
    ///
    /// Throws `EINVAL` if the path is not a regular file, if the file is shorter, or if others may access it: in a shared folder,
    /// another user may have put it there. A link is not followed.
    package static func existing(path: String, holding count: Int64) throws(Errno) -> Descriptor {
        let file = Descriptor(
            adopting: try Syscalls.open(path, flags: O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode: 0))
        guard try Syscalls.isPrivateFile(file.rawValue), try file.fileSize() >= count, count >= 0 else {
            throw .invalidArgument
        }
        return file
    }

    /// Opens a file of the user, creating it if necessary, and takes its lock; returns nil if the lock is held elsewhere. The
    /// lock is held as long as the file is open here.
    ///
    /// Throws `EINVAL` if the path is not a regular file, or if others may access it. A link is not followed.
    package static func locking(path: String) throws(Errno) -> Descriptor? {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let file = Descriptor(adopting: try Syscalls.open(path, flags: flags, mode: 0o600))
        guard try Syscalls.isPrivateFile(file.rawValue) else { throw .invalidArgument }
        do throws(Errno) { try Syscalls.lock(file.rawValue) } catch {
            if error == .wouldBlock { return nil }
            throw error
        }
        return file
    }

    /// Releases the lock that `locking` took, before the file is closed. Closing releases it only when no process has the open
    /// file any more, and a child process that is being started has it for a moment.
    package borrowing func unlock() { try? Syscalls.unlock(rawValue) }

    /// Opens a file that `creating` has created, to write on from `offset`; the bytes after it are truncated.
    package static func continuing(path: String, at offset: Int64) throws(Errno) -> Descriptor {
        let file = try existing(path: path, holding: offset)
        try Syscalls.truncate(file.rawValue, to: offset)
        try Syscalls.seek(file.rawValue, to: offset)
        return file
    }

    /// Makes the file system report whether it has stored the written bytes, as closing would; the descriptor stays open.
    package func confirmStored() throws(Errno) {
        let twin: Int32
        do throws(Errno) { twin = try Syscalls.duplicate(rawValue) } catch {
            // Without a descriptor for a duplicate, the file is synchronized to disk, which takes longer.
            guard error.isOutOfDescriptors else { throw error }
            return try Syscalls.synchronize(rawValue)
        }
        try Syscalls.closeReporting(twin)
    }
}

extension FileTarget {
    /// Makes the file system report whether it has stored the written bytes.
    package func confirmStored() throws(Errno) { try descriptor.confirmStored() }
}
