// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Writes a body into a file, from the file's start or after the bytes that it already has. Used by one transfer.
struct FileSaver {
    /// The absolute path.
    let path: String
    /// The name as the user typed it.
    let shown: String
    /// The open file; the transport may also write content to it directly.
    var handle: FileHandle { file.handle }
    /// Whether it is a regular file, not a device or a pipe.
    var isRegular: Bool { file.isRegular }
    private(set) var written: Int64 = 0
    private let file: OpenFile
    private let offset: Int64
    private let isNew: Bool
    /// The number of bytes that must follow `offset`; nil for a file that is written from its start.
    let expected: Int64?

    /// Opens the file for the URL with `number` and truncates it at `offset`. With `isNew` nothing may exist at the path, not
    /// even a symbolic link.
    init(
        path: String, shown: String, offset: Int64, expected: Int64? = nil, isNew: Bool = false,
        in files: SavedFiles = SavedFiles(), for number: Int = 0
    ) throws {
        self.path = path
        self.shown = shown
        self.offset = offset
        self.expected = expected
        self.isNew = isNew
        do {
            file = try OpenFile(path, O_WRONLY | O_CREAT | (isNew ? O_EXCL | O_NOFOLLOW : 0))
            guard !file.isRegular || files.take(file.identity, for: number) else {
                throw CommandFailure(
                    .write,
                    "Will not write over \(shown), in which another address of this line is saved. Give each a name of its own with -o."
                )
            }
            if offset == 0 {
                try truncate()
            } else {
                // Otherwise, if the connection broke, the file's old bytes beyond the new ones would be taken for content.
                if file.isRegular, try file.handle.seekToEnd() > UInt64(offset) {
                    try file.handle.truncate(atOffset: UInt64(offset))
                }
                try file.handle.seek(toOffset: UInt64(offset))
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as POSIXError where isNew && error.code == .EEXIST {
            throw CommandFailure(
                .write,
                "Will not write over \(shown), a name that the server gave (-J). Remove the file, or name it with -o."
            )
        } catch { throw CommandFailure.unwritable(shown, error) }
    }

    /// Truncates the file to zero length, if it is regular: a device such as /dev/null cannot be truncated.
    private func truncate() throws {
        guard file.isRegular else { return }
        try file.handle.truncate(atOffset: 0)
    }

    /// Discards what was written, before another attempt that writes the same file from its start.
    mutating func restart() throws {
        do { try truncate() } catch { throw CommandFailure.unwritable(shown, error) }
        written = 0
    }

    /// Writes a piece. If there are more bytes than expected, none of the piece is written, the file is restored and an error is
    /// thrown.
    mutating func write(_ data: Data) throws {
        if let expected, written + Int64(data.count) > expected { throw restoreAndFail(expected) }
        do { try handle.write(contentsOf: data) } catch { throw CommandFailure.unwritable(shown, error) }
        written += Int64(data.count)
    }

    /// Truncates the file to the bytes that it had before.
    private mutating func restoreAndFail(_ expected: Int64) -> CommandFailure {
        do { try handle.truncate(atOffset: UInt64(offset)) } catch { return .unwritable(shown, error) }
        written = 0
        return Resumption.wrongLength(expected)
    }

    /// Counts bytes that the transport has written directly into the file.
    mutating func addWritten(_ count: Int64) { written += count }

    /// Called at the end of the content. A resumed download must have exactly the expected bytes.
    mutating func complete() throws {
        guard let expected else { return }
        guard written == expected else { throw restoreAndFail(expected) }
    }

    /// Removes the file and its resume record if this object created it, since another attempt saves to another name.
    func discard() {
        guard isNew else { return }
        try? FileManager.default.removeItem(atPath: path)
        ResumeRecord.remove(path)
    }

    func close() throws {
        do { try handle.close() } catch { throw CommandFailure.unwritable(shown, error) }
    }
}
