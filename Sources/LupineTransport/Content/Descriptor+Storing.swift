// SPDX-License-Identifier: MIT

internal import Glibc

/// Opens files that store content, and checks after writing that the file system has stored them.
extension Descriptor {
    /// Creates a file that only its owner may access, and opens it for writing. Throws `EEXIST` if there is a file or a link at
    /// the path.
    package static func creating(path: String) throws(Errno) -> Descriptor {
        Descriptor(
            adopting: try Syscalls.open(
                path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode: 0o600))
    }

    /// Opens a file of at least `count` bytes that `creating` created earlier, for writing.
    ///
    /// Throws `EINVAL` if the path is not a regular file, if the file is shorter, or if other users may access it: in a shared
    /// folder, another user may have created it. Does not follow a link, and does not wait for the reader of a FIFO.
    package static func existing(path: String, holding count: Int64) throws(Errno) -> Descriptor {
        let file = Descriptor(
            adopting: try Syscalls.open(path, flags: O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode: 0))
        guard try Syscalls.isPrivateFile(file.rawValue), try file.fileSize() >= count, count >= 0 else {
            throw .invalidArgument
        }
        return file
    }

    /// Opens a file of the user, creating it if necessary, and locks it until it is closed. Returns nil if another process holds
    /// the lock.
    ///
    /// Throws `EINVAL` if the path is not a regular file, or if other users may access it. Does not follow a link, and does not
    /// wait for the other end of a FIFO.
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

    /// Releases the lock that `locking` acquired. Call this before the file is closed. Closing alone is not enough: a child
    /// process that is being started inherits the open file for a moment, and with it the lock.
    package borrowing func unlock() { try? Syscalls.unlock(rawValue) }

    /// Opens a file that `creating` created before, truncates it at `offset`, and continues to write there.
    package static func continuing(path: String, at offset: Int64) throws(Errno) -> Descriptor {
        let file = try existing(path: path, holding: offset)
        try Syscalls.truncate(file.rawValue, to: offset)
        try Syscalls.seek(file.rawValue, to: offset)
        return file
    }

    /// Throws the error if the file system has failed to store the written bytes. `close(2)` reports such an error, so this
    /// closes a duplicate of the descriptor; the descriptor itself stays open.
    package func confirmStored() throws(Errno) {
        let duplicate: Int32
        do throws(Errno) { duplicate = try Syscalls.duplicate(rawValue) } catch {
            // If no descriptor is left for a duplicate, `fsync(2)` also reports the error, but takes longer.
            guard error.isOutOfDescriptors else { throw error }
            return try Syscalls.synchronize(rawValue)
        }
        try Syscalls.closeReporting(duplicate)
    }
}

extension FileTarget {
    /// Throws the error if the file system has failed to store the written bytes.
    package func confirmStored() throws(Errno) { try descriptor.confirmStored() }
}
