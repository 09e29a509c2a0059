// SPDX-License-Identifier: MIT

/// An argument after the URL: a header field, a query parameter or a part of the body, in HTTPie's grammar.
///
/// The separator that occurs first decides the kind of the item. Of several separators at the same position, the longest decides.
/// A backslash removes the special meaning of the next character if that character is `\`, `:`, `=`, `@` or `;`.
///
/// The first associated value of each case is the name.
enum RequestItem: Hashable, Sendable {
    /// `Name:value`, a header field.
    case header(String, String)
    /// `Name:`, which removes a header field that would be sent by default.
    case withoutHeader(String)
    /// `Name;`, a header field with an empty value.
    case emptyHeader(String)
    /// `name==value`, a parameter of the query.
    case query(String, String)
    /// `name=value`, a field of the body whose value is text.
    case field(String, String)
    /// `name:=json`, a field of the body whose value is JSON.
    case json(String, String)
    /// `name@path`, a file in a form; `;type=` after the path gives its media type. Without a name the file is the whole body.
    case file(String, path: String, type: String?)
    /// `name=@path`, a field of the body whose value is the text of a file.
    case textFile(String, path: String)
    /// `name:=@path`, a field of the body whose value is the JSON of a file.
    case jsonFile(String, path: String)

    /// The separators. A longer one precedes the shorter ones that it begins with, so that the longest is found first.
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

    /// Parses an item as typed. Throws if it has no separator, or if its name is missing.
    init(_ text: String) throws(UsageError) {
        guard let (name, separator, value) = Self.split(text) else {
            // A semicolon is not a separator: it is special only at the end of an item.
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
            let pathAndType = value.split(
                separator: ";type=", maxSplits: 1, omittingEmptySubsequences: false)
            let type = pathAndType.count == 2 ? String(pathAndType[1]) : nil
            self = .file(name, path: String(pathAndType[0]), type: type)
        }
    }

    /// Splits an item at its separator; returns nil if there is none. Removes the backslashes that make characters of the name
    /// ordinary, and the spaces at the beginning of a header field's value.
    private static func split(
        _ text: String
    ) -> (name: String, separator: Separator, value: String)? {
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
