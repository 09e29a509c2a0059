// SPDX-License-Identifier: MIT

import Foundation

/// Finds the media type of a file by its file name extension.
///
/// The file is never opened. The built-in table is searched first, so that common types are the same on every machine;
/// unknown extensions are looked up in the system's table, if there is one. Can be used on any thread; the tables are read
/// when they are first needed.
struct MIMETypeTable: Sendable {
    /// The type of a file whose extension is unknown (RFC 2046 §4.5.1).
    static let unknown = "application/octet-stream"

    private static let builtIn = MIMETypeTable(lines: builtInLines)
    private static let system = MIMETypeTable(path: "/etc/mime.types")
    private static let maximumFileSize = 4 << 20

    private var types: [String: String] = [:]

    /// Returns the type for an extension, ignoring case.
    static func type(forExtension fileExtension: String) -> String {
        let key = fileExtension.lowercased()
        return builtIn[key] ?? system[key] ?? unknown
    }

    /// Parses a table in the format of `mime.types`: each line a type and its extensions, `#` before a comment. For an
    /// extension that occurs twice, the first type is used; a line whose first word is not a type is skipped.
    init(lines: String) {
        for line in lines.utf8.split(separator: UInt8(ascii: "\n")) {
            let commentStart = line.firstIndex(of: UInt8(ascii: "#")) ?? line.endIndex
            // Words are separated by spaces and tabs; a line may end with a carriage return.
            let words = line[..<commentStart].split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            guard let type = words.first.flatMap({ String(Substring($0)) }), Self.isType(type) else {
                continue
            }
            for word in words.dropFirst() {
                let key = String(Substring(word)).lowercased()
                if types[key] == nil { types[key] = type }
            }
        }
    }

    /// Reads the table in a file; empty when there is no such file or it is larger than `maximumFileSize`.
    init(path: String) {
        self.init(lines: Self.text(ofFile: path) ?? "")
    }

    private static func text(ofFile path: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        guard let bytes = try? handle.read(upToCount: maximumFileSize + 1),
            bytes.count <= maximumFileSize
        else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The number of extensions that have a type.
    var count: Int { types.count }

    /// All types of the table.
    var allTypes: Set<String> { Set(types.values) }

    /// Returns the type for a lower-case extension.
    subscript(key: String) -> String? { types[key] }

    /// Whether the text is two names separated by a slash (RFC 6838 §4.2). Such a text is also a valid header field value.
    private static func isType(_ text: String) -> Bool {
        let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.count == 2 && names.allSatisfy { !$0.isEmpty && $0.allSatisfy(isNameCharacter) }
    }

    /// Whether RFC 6838 §4.2 allows the byte in the name of a type or subtype.
    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case _: "!#$&-^_.+".utf8.contains(byte)
        }
    }
}
