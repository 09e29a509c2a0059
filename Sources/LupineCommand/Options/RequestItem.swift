// SPDX-License-Identifier: MIT

/// An argument after the URL: one field of the request, in HTTPie's grammar.
///
/// The first separator counts, and of several at the same position the longest. A backslash before a separator's character, or
/// before another backslash, makes it an ordinary character.
enum RequestItem: Hashable, Sendable {
    /// `Name:value`.
    case header(String, String)
    /// `Name:`, which removes a field that would be sent.
    case withoutHeader(String)
    /// `Name;`, a field without a value.
    case emptyHeader(String)
    /// `name==value`.
    case query(String, String)
    /// `name=value`.
    case field(String, String)
    /// `name:=json`.
    case json(String, String)
    /// `name@path`, with a type if `;type=` gives one. Without a name the file is the body.
    case file(String, path: String, type: String?)
    /// `name=@path`: the text of a file.
    case textFile(String, path: String)
    /// `name:=@path`: the JSON of a file.
    case jsonFile(String, path: String)

    private enum Separator: String, CaseIterable {
        case jsonFile = ":=@"
        case json = ":="
        case query = "=="
        case textFile = "=@"
        case header = ":"
        case field = "="
        case file = "@"
    }

    /// Whether the item is part of a body.
    var isContent: Bool {
        switch self {
        case .header, .withoutHeader, .emptyHeader, .query: false
        case .field, .json, .file, .textFile, .jsonFile: true
        }
    }

    /// The name of a field of the body.
    var fieldName: String? {
        switch self {
        case .field(let name, _), .json(let name, _), .textFile(let name, _), .jsonFile(let name, _): name
        case .header, .withoutHeader, .emptyHeader, .query, .file: nil
        }
    }

    /// Parses an item as typed.
    init(_ text: String) throws(UsageError) {
        guard let (name, separator, value) = Self.split(text) else {
            if text.last == ";", text.count > 1 {
                self = .emptyHeader(String(text.dropLast()))
                return
            }
            throw UsageError(
                "`\(text)` is no item: write Name:value, name==value, name=value, name:=json or name@file (lupine help items)"
            )
        }
        guard !name.isEmpty || separator == .file else {
            throw UsageError("`\(text)` has nothing before its `\(separator.rawValue)`: give the item a name")
        }
        switch separator {
        case .header: self = value.isEmpty ? .withoutHeader(name) : .header(name, value)
        case .query: self = .query(name, value)
        case .field: self = .field(name, value)
        case .json: self = .json(name, value)
        case .textFile: self = .textFile(name, path: value)
        case .jsonFile: self = .jsonFile(name, path: value)
        case .file:
            let parts = value.split(separator: ";type=", maxSplits: 1, omittingEmptySubsequences: false)
            self = .file(name, path: String(parts[0]), type: parts.count == 2 ? String(parts[1]) : nil)
        }
    }

    /// Splits an item into its name, without escapes, the separator, and the value, unchanged but for a header's leading spaces.
    private static func split(_ text: String) -> (String, Separator, String)? {
        var name = ""
        var rest = Substring(text)
        while let first = rest.first {
            if first == "\\", let next = rest.dropFirst().first, "\\:=@;".contains(next) {
                name.append(next)
                rest = rest.dropFirst(2)
                continue
            }
            if let separator = Separator.allCases.first(where: { rest.hasPrefix($0.rawValue) }) {
                let value = String(rest.dropFirst(separator.rawValue.count))
                let isSpaced = separator == .header
                return (name, separator, isSpaced ? String(value.drop(while: { $0 == " " })) : value)
            }
            name.append(first)
            rest = rest.dropFirst()
        }
        return nil
    }
}
