// SPDX-License-Identifier: MIT

internal import Glibc

/// Files that content is kept in: made anew, gone on with, and seen to the end.
extension Descriptor {
    /// Makes a file that nobody else can have made, for its owner only, open for writing. Throws `EEXIST` where there is
    /// one already, or a link.
    package static func creating(path: String) throws(Errno) -> Descriptor {
        Descriptor(
            adopting: try Syscalls.open(
                path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode: 0o600))
    }

    /// Opens a file of at least `count` bytes that `creating` has made.
    ///
    /// Throws `EINVAL` where the path is no regular file, or one that is shorter, and where the file is not its user's alone:
    /// in a folder that users share, somebody else may have put it there. A link is not followed.
    package static func made(path: String, holding count: Int64) throws(Errno) -> Descriptor {
        let file = Descriptor(
            adopting: try Syscalls.open(path, flags: O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode: 0))
        guard try Syscalls.isPrivateFile(file.rawValue), try file.fileSize() >= count, count >= 0 else {
            throw .invalidArgument
        }
        return file
    }

    /// Opens a file of the user's own, which is made if it is not there, and takes its lock; nil when another one has that. The lock
    /// is held as long as the file is open here.
    ///
    /// Throws `EINVAL` where the path is no regular file, or not its user's alone. A link is not followed.
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

    /// Gives back the lock that `locking` took, before the file is closed. The kernel does that only when nobody has the open file
    /// any more, and a child process that is just being started has it for a moment.
    package borrowing func unlock() { try? Syscalls.unlock(rawValue) }

    /// Opens such a file to write on from `offset`; what stands behind it is cut off.
    package static func continuing(path: String, at offset: Int64) throws(Errno) -> Descriptor {
        let file = try made(path: path, holding: offset)
        try Syscalls.truncate(file.rawValue, to: offset)
        try Syscalls.seek(file.rawValue, to: offset)
        return file
    }

    /// Makes the file system say whether it has kept what was written, as closing would; the descriptor stays open.
    package func settle() throws(Errno) {
        let twin: Int32
        do throws(Errno) { twin = try Syscalls.duplicate(rawValue) } catch {
            // Without a descriptor for it the disk is asked, which takes longer.
            guard error.isOutOfDescriptors else { throw error }
            return try Syscalls.synchronize(rawValue)
        }
        try Syscalls.closeReporting(twin)
    }
}

extension FileTarget {
    /// Makes the file system say whether it has kept what was written.
    package func settle() throws(Errno) { try descriptor.settle() }
}
