// SPDX-License-Identifier: MIT

/// An argument after the URL: a header field, a query parameter or a part of the body, in HTTPie's grammar.
///
/// The separator that occurs first decides the kind of the item, and of several at the same position the longest. A backslash
/// makes the next character ordinary if that is a backslash or belongs to a separator.
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

    /// The name of the item if it is a field of the body; nil otherwise.
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

    /// Splits an item into the name, without backslashes, the separator, and the value, for a header without leading spaces. Nil
    /// if there is no separator.
    private static func split(_ text: String) -> (String, Separator, String)? {
        var name = ""
        var unparsed = Substring(text)
        while let first = unparsed.first {
            if first == "\\", let next = unparsed.dropFirst().first, "\\:=@;".contains(next) {
                name.append(next)
                unparsed = unparsed.dropFirst(2)
                continue
            }
            if let separator = Separator.allCases.first(where: { unparsed.hasPrefix($0.rawValue) }) {
                var value = unparsed.dropFirst(separator.rawValue.count)
                if separator == .header { value = value.drop(while: { $0 == " " }) }
                return (name, separator, String(value))
            }
            name.append(first)
            unparsed = unparsed.dropFirst()
        }
        return nil
    }
}
