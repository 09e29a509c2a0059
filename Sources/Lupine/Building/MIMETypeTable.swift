// SPDX-License-Identifier: MIT

import Foundation

/// Finds the media type of a file by the extension of its name.
///
/// Not for what a file holds; nothing is opened. The house's own table comes first, so that the usual types are the same
/// on every machine; extensions that it does not know are looked for in the system's table, when there is one. Used on any
/// thread; the tables are read when they are first needed.
struct MIMETypeTable: Sendable {
    /// What is said of files of which nothing is known (RFC 2046 §4.5.1).
    static let unknown = "application/octet-stream"

    private static let house = MIMETypeTable(lines: houseLines)
    private static let system = MIMETypeTable(path: "/etc/mime.types")
    private static let fileLimit = 4 << 20

    private var types: [String: String] = [:]

    /// The type for an extension, whatever its case.
    static func type(forExtension fileExtension: String) -> String {
        let key = fileExtension.lowercased()
        return house[key] ?? system[key] ?? unknown
    }

    /// A table in the form of `mime.types`: each line a type and its extensions, `#` before a remark. Of an extension that
    /// comes twice the first type counts; a line whose first word is no type is passed over.
    init(lines: String) {
        for line in lines.utf8.split(separator: UInt8(ascii: "\n")) {
            let remark = line.firstIndex(of: UInt8(ascii: "#")) ?? line.endIndex
            let words = line[..<remark].split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            guard let type = words.first.flatMap({ String(Substring($0)) }), Self.isType(type) else {
                continue
            }
            for word in words.dropFirst() {
                let key = String(Substring(word)).lowercased()
                if types[key] == nil { types[key] = type }
            }
        }
    }

    /// The table in a file; empty when there is none, or one that is far too large.
    init(path: String) {
        self.init(lines: Self.text(ofFile: path) ?? "")
    }

    private static func text(ofFile path: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        guard let bytes = try? handle.read(upToCount: fileLimit + 1), bytes.count <= fileLimit else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The number of extensions that have a type.
    var count: Int { types.count }

    /// All types.
    var allTypes: Set<String> { Set(types.values) }

    /// The type for an extension in small letters.
    subscript(key: String) -> String? { types[key] }

    /// Two names of the characters that RFC 6838 §4.2 lets them have, and a slash between: what a header can hold.
    private static func isType(_ text: String) -> Bool {
        let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.count == 2
            && names.allSatisfy { name in
                !name.isEmpty
                    && name.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"):
                            true
                        case _: "!#$&-^_.+".utf8.contains(byte)
                        }
                    }
            }
    }
}
