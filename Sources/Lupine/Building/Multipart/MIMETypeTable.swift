// SPDX-License-Identifier: MIT

import Foundation

/// Finds the media type of a file by its file name extension.
///
/// The content of the file is not examined. The built-in table is searched first, so that common types are the same on every
/// machine. Extensions that this table does not contain are looked up in the system's table, if there is one. The functions can
/// be called on any thread. The tables are read when they are first needed.
struct MIMETypeTable: Sendable {
    /// The type of a file whose extension is unknown (RFC 2046 §4.5.1).
    static let typeOfUnknownExtension = "application/octet-stream"

    /// The table in `MIMETypeTable+BuiltIn.swift`.
    private static let builtIn = MIMETypeTable(lines: builtInLines)
    /// The table of the system; empty if it has none.
    private static let system = MIMETypeTable(path: "/etc/mime.types")
    /// The maximum size in bytes of a table in a file: 4 MiB.
    private static let maximumFileSize = 4 << 20

    /// The types by file name extension, in lower case.
    private var types: [String: String] = [:]

    /// Returns the type for an extension, ignoring case.
    static func type(forExtension fileExtension: String) -> String {
        let key = fileExtension.lowercased()
        return builtIn[key] ?? system[key] ?? typeOfUnknownExtension
    }

    /// Parses a table in the format of `mime.types`: each line is a type and its extensions, and `#` begins a comment. If an
    /// extension occurs twice, the first type is used. A line whose first word is not a type is skipped.
    init(lines: String) {
        for line in lines.utf8.split(separator: UInt8(ascii: "\n")) {
            let commentStart = line.firstIndex(of: UInt8(ascii: "#")) ?? line.endIndex
            // Words are separated by spaces (0x20) and tabs (0x09); a line may end with a carriage return (0x0D).
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

    /// Reads the table in a file. The table is empty if the file does not exist or is larger than `maximumFileSize`.
    init(path: String) {
        self.init(lines: Self.text(ofFile: path) ?? "")
    }

    /// Returns the content of a file; nil if the file cannot be read or is larger than `maximumFileSize`.
    private static func text(ofFile path: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        // Reads one byte more than allowed, to notice a file that is too large.
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
