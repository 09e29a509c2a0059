// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// Writes a body into a file, from the beginning or behind what is there already. Used by one transfer.
struct FileSaver {
    /// The path, from the root.
    let path: String
    /// How the user calls it.
    let shown: String
    /// What it is open on; content may be put there by others too.
    var handle: FileHandle { file.handle }
    /// Whether it is a file, and no device or pipe.
    var isRegular: Bool { file.isRegular }
    private(set) var written: Int64 = 0
    private let file: OpenFile
    private let offset: Int64
    private let isNew: Bool
    /// So many bytes belong behind `offset`; nil for a file that is begun.
    let expected: Int64?

    /// Opens the file for `number` alone. What it holds from `offset` on is given up. One that has to be new (`isNew`) must not be
    /// there, as a link neither.
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
                try empty()
            } else {
                // What stands behind it would be taken for content when the connection breaks.
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

    /// A device such as /dev/null has no length to cut.
    private func empty() throws {
        guard file.isRegular else { return }
        try file.handle.truncate(atOffset: 0)
    }

    /// Gives up what was written, for another attempt that begins the same file.
    mutating func beginAgain() throws {
        do { try empty() } catch { throw CommandFailure.unwritable(shown, error) }
        written = 0
    }

    /// Writes a piece. What is more than belongs there is not written, and the file is as it was before.
    mutating func write(_ data: Data) throws {
        if let expected, written + Int64(data.count) > expected { throw takeBack(expected) }
        do { try handle.write(contentsOf: data) } catch { throw CommandFailure.unwritable(shown, error) }
        written += Int64(data.count)
    }

    /// Gives up what was written behind the bytes that were there.
    private mutating func takeBack(_ expected: Int64) -> CommandFailure {
        do { try handle.truncate(atOffset: UInt64(offset)) } catch { return .unwritable(shown, error) }
        written = 0
        return Resumption.wrongLength(expected)
    }

    /// So much has been put into the file by others.
    mutating func wentPast(_ count: Int64) { written += count }

    /// The content is over. What is gone on with has to have the bytes that belong there.
    mutating func complete() throws {
        guard let expected else { return }
        guard written == expected else { throw takeBack(expected) }
    }

    /// Removes the file if this has made it, and the note beside it: another attempt saves to another name.
    func discard() {
        guard isNew else { return }
        try? FileManager.default.removeItem(atPath: path)
        PartialMark.remove(path)
    }

    func close() throws {
        do { try handle.close() } catch { throw CommandFailure.unwritable(shown, error) }
    }
}
