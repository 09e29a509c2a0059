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

    /// Opens the file. From `offset` 0 on what it holds is given up.
    init(path: String, shown: String, offset: Int64) throws {
        self.path = path
        self.shown = shown
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

    mutating func write(_ data: Data) throws {
        do { try handle.write(contentsOf: data) } catch { throw CommandFailure.unwritable(shown, error) }
        written += Int64(data.count)
    }

    /// So much has been put into the file by others.
    mutating func wentPast(_ count: Int64) { written += count }

    func close() throws {
        do { try handle.close() } catch { throw CommandFailure.unwritable(shown, error) }
    }
}

/// What a partial file is a part of: kept beside it until it is whole, so that no two files are put together.
enum PartialMark {
    private static func path(_ file: String) -> String { file + ".lupine-part" }

    /// The validator that was kept; nil when there is none.
    static func validator(of file: String) -> String? {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path(file))), data.count < 4096 else {
            return nil
        }
        let text = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(
            String.init)
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Keeps a strong validator; a weak one proves nothing.
    static func keep(_ validator: String?, of file: String) {
        guard let validator, !validator.hasPrefix("W/") else { return remove(file) }
        try? Data((validator + "\n").utf8).write(to: URL(fileURLWithPath: path(file)))
    }

    static func remove(_ file: String) { try? FileManager.default.removeItem(atPath: path(file)) }
}
