// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Writes the content of one download into a file: from the file's start, or after the bytes that the file already has.
struct FileSaver {
    /// The absolute path.
    let path: String
    /// The file's name in messages, as the user typed it.
    let shownName: String
    /// The open file; the transport may also write content to it directly.
    var handle: FileHandle { file.handle }
    /// Whether the file is a regular file, not a device or a pipe.
    var isRegular: Bool { file.isRegular }
    /// The number of bytes written, without those that the file had before.
    private(set) var writtenByteCount: Int64 = 0
    private let file: OpenFile
    /// The number of bytes that the file had before and keeps.
    private let offset: Int64
    /// Whether this saver has created the file: opening fails if the path exists.
    private let mustBeNew: Bool
    /// The number of bytes that must follow `offset`; nil for a file that is written from its start.
    let expectedByteCount: Int64?

    /// Opens a file, creates it if necessary, and truncates it at `offset`.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - shownName: The file's name in messages.
    ///   - offset: The number of bytes that the file keeps.
    ///   - expectedByteCount: The number of bytes that must follow; nil if unknown.
    ///   - mustBeNew: Whether opening fails if the path exists, even as a symbolic link.
    ///   - files: The files of the command line, of which this becomes one.
    ///   - urlIndex: The index of the URL whose content is saved.
    init(
        path: String, shownName: String, offset: Int64, expectedByteCount: Int64? = nil,
        mustBeNew: Bool = false, in files: SavedFiles = SavedFiles(), for urlIndex: Int = 0
    ) throws {
        self.path = path
        self.shownName = shownName
        self.offset = offset
        self.expectedByteCount = expectedByteCount
        self.mustBeNew = mustBeNew
        do {
            // `O_EXCL` makes opening fail if the path exists, even as a symbolic link.
            file = try OpenFile(path, O_WRONLY | O_CREAT | (mustBeNew ? O_EXCL | O_NOFOLLOW : 0))
            // Several URLs may share a device or a pipe, such as /dev/null. `reserve` returns false if another URL has the file.
            guard !file.isRegular || files.reserve(file.identity, for: urlIndex) else {
                throw CommandFailure(
                    .write,
                    "Will not write over \(shownName), in which another address of this line is saved. Give each a name of its own with -o."
                )
            }
            if offset == 0 {
                try truncate()
            } else {
                // If the connection broke later, old bytes after the new ones would be taken for content of this download.
                if file.isRegular, try file.handle.seekToEnd() > UInt64(offset) {
                    try file.handle.truncate(atOffset: UInt64(offset))
                }
                try file.handle.seek(toOffset: UInt64(offset))
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as POSIXError where mustBeNew && error.code == .EEXIST {
            throw CommandFailure(
                .write,
                "Will not write over \(shownName), a name that the server gave (-J). Remove the file, or name it with -o."
            )
        } catch { throw CommandFailure.unwritable(shownName, error) }
    }

    /// Truncates the file to zero length. Does nothing for a device such as /dev/null, which cannot be truncated.
    private func truncate() throws {
        guard file.isRegular else { return }
        // This also moves the position to the start.
        try file.handle.truncate(atOffset: 0)
    }

    /// Discards the content of an earlier attempt, before another attempt writes the file from its start.
    mutating func restart() throws {
        do { try truncate() } catch { throw CommandFailure.unwritable(shownName, error) }
        writtenByteCount = 0
    }

    /// Writes the next bytes of the content. If they exceed the expected number, truncates the file to its earlier content and
    /// throws.
    mutating func write(_ data: Data) throws {
        if let expectedByteCount, writtenByteCount + Int64(data.count) > expectedByteCount {
            throw truncateAndMakeFailure(expectedByteCount)
        }
        do { try handle.write(contentsOf: data) } catch { throw CommandFailure.unwritable(shownName, error) }
        writtenByteCount += Int64(data.count)
    }

    /// Truncates the file to the bytes that it had before, and returns the failure to throw: that the content has the wrong
    /// length, or that the file cannot be truncated.
    private mutating func truncateAndMakeFailure(_ expectedByteCount: Int64) -> CommandFailure {
        do { try handle.truncate(atOffset: UInt64(offset)) } catch { return .unwritable(shownName, error) }
        writtenByteCount = 0
        return Resumption.lengthMismatch(expectedByteCount)
    }

    /// Counts bytes that the transport has written directly into the file.
    mutating func addWrittenBytes(_ count: Int64) { writtenByteCount += count }

    /// Checks, at the end of the content, that a resumed download has as many bytes as expected. If not, truncates the file to
    /// its earlier content and throws.
    mutating func checkByteCount() throws {
        guard let expectedByteCount, writtenByteCount != expectedByteCount else { return }
        throw truncateAndMakeFailure(expectedByteCount)
    }

    /// Removes the file and its resume record, if this saver has created the file. `Fetch` calls this method when a later attempt
    /// saves to another name.
    func discard() {
        // Without `mustBeNew`, the file may have existed before.
        guard mustBeNew else { return }
        try? FileManager.default.removeItem(atPath: path)
        ResumeRecord.remove(path)
    }

    /// Closes the file. Throws if the system reports a write error only when the file is closed.
    func close() throws {
        do { try handle.close() } catch { throw CommandFailure.unwritable(shownName, error) }
    }
}
