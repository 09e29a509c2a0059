// SPDX-License-Identifier: MIT

internal import Foundation

/// Writes a body into a file, from the beginning or behind what is there already. Used by one transfer.
struct FileSaver {
    /// The path, from the root.
    let path: String
    /// How the user calls it.
    let shown: String
    /// Whether it is a file, and no device or pipe.
    let isRegular: Bool
    /// What it is open on; content may be put there by others too.
    let handle: FileHandle
    private(set) var written: Int64 = 0
    private let offset: Int64
    /// So many bytes belong behind `offset`; nil for a file that is begun.
    let expected: Int64?

    /// Opens the file. From `offset` 0 on what it holds is given up.
    init(path: String, shown: String, offset: Int64, expected: Int64? = nil) throws {
        self.path = path
        self.shown = shown
        self.offset = offset
        self.expected = expected
        do {
            if offset == 0, !FileManager.default.fileExists(atPath: path) {
                guard FileManager.default.createFile(atPath: path, contents: nil) else {
                    throw CommandFailure.unwritable(shown, nil)
                }
            }
            handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            if offset == 0 {
                // A device such as /dev/null has no length to cut.
                try? handle.truncate(atOffset: 0)
            } else {
                try handle.seek(toOffset: UInt64(offset))
            }
            let kind = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            isRegular = kind == .typeRegular
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure.unwritable(shown, error) }
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

    /// The content is over. What is gone on with has to have the bytes that belong there, and ends with them.
    mutating func complete() throws {
        guard let expected else { return }
        guard written == expected else { throw takeBack(expected) }
        guard isRegular else { return }
        do { try handle.truncate(atOffset: UInt64(offset + written)) } catch {
            throw CommandFailure.unwritable(shown, error)
        }
    }

    func close() throws {
        do { try handle.close() } catch { throw CommandFailure.unwritable(shown, error) }
    }
}

/// What a partial file is a part of, kept beside it until it is whole, so that no two files are put together: a line with the
/// validator of its version, and one with the length of the whole, each empty when it is not known.
struct PartialMark: Hashable, Sendable {
    /// An ETag that is strong, or a date.
    var validator: String?
    var total: Int64?

    private static func path(_ file: String) -> String { file + ".lupine-part" }

    /// What was kept; nil when nothing was.
    static func read(of file: String) -> PartialMark? {
        guard let data = try? PrivateFile.read(path(file)), data.count < 4096 else { return nil }
        let lines = String(decoding: data, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        let mark = PartialMark(
            validator: lines.first.flatMap { $0.isEmpty ? nil : String($0) },
            total: lines.count > 1 ? Int64(lines[1]) : nil)
        return mark == PartialMark() ? nil : mark
    }

    /// Keeps it. A weak validator proves nothing.
    func keep(of file: String) {
        var mark = self
        if validator?.hasPrefix("W/") == true { mark.validator = nil }
        guard mark != PartialMark() else { return Self.remove(file) }
        let lines = [mark.validator ?? "", mark.total.map { "\($0)" } ?? ""]
        try? Data((lines.joined(separator: "\n") + "\n").utf8).write(
            to: URL(fileURLWithPath: Self.path(file)))
    }

    static func remove(_ file: String) { try? FileManager.default.removeItem(atPath: path(file)) }
}
