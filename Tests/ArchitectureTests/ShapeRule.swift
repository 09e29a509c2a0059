// SPDX-License-Identifier: MIT

/// Checks the form of a file: its first line, its name, its length and that of its functions.
///
/// A Swift file is named after a type that it declares or extends, `Type.swift`, or after an aspect of one, `Type+Aspect.swift`;
/// a file of several small types may have the noun that they share as its name (`MessageHead.swift` for `RequestHead` and
/// `ResponseHead`) or the beginning of a name (`ProxyURL.swift` for `ProxyURLError`). `shape-exempt.txt` lists exemptions as
/// `path | rule | reason`.
enum ShapeRule: String, CaseIterable {
    case licence
    case name
    case vagueName
    case length
    case function

    static let exemptionsPath = "Tests/ArchitectureTests/shape-exempt.txt"
    /// The maximum number of lines of a file of the library.
    static let maximumLines = 500
    /// The same for all other files: a test may have long tables.
    static let maximumTestLines = 600
    /// The maximum number of lines of a function, from its name to its closing brace.
    static let maximumFunctionLines = 60
    /// Words that name nothing specific. `inheritedNames` lists Alamofire's names that contain one.
    static let vagueWords: Set = [
        "Util", "Utils", "Utilities", "Helper", "Helpers", "Common", "Misc", "Manager",
    ]
    static let inheritedNames: Set = ["ServerTrustManager", "NetworkReachabilityManager"]

    /// Returns whether the rule applies to the file. Fuzz targets and benchmarks are named after what they exercise: their names
    /// are not checked. A test may be a long table: only the functions of the library are measured.
    func applies(to file: SourceFile) -> Bool {
        switch self {
        case .name: ["Sources", "Tests"].contains(file.folders.first)
        case .function: file.folders.first == "Sources"
        case .licence, .vagueName, .length: true
        }
    }

    func violations(in file: SourceFile) -> [Violation] {
        switch self {
        case .licence:
            let first = file.lines.first ?? ""
            if first == "// SPDX-License-Identifier: MIT" { return [] }
            return [
                Violation(
                    path: file.path, line: 1, rule: "the first line is `// SPDX-License-Identifier: MIT`")
            ]
        case .name:
            let declared = Self.declaredTypes(in: file)
            let type = file.stem.split(separator: "+").first.map(String.init) ?? file.stem
            let noun = Self.words(type).last
            let related = declared.contains { $0.hasPrefix(type) || Self.words($0).last == noun }
            if declared.isEmpty || related { return [] }
            let rule =
                "the file is named after a type that it declares or extends, or their noun; none goes with \(type)"
            return [Violation(path: file.path, line: 1, rule: rule)]
        case .vagueName:
            return (file.folders + [file.stem]).filter { !Self.inheritedNames.contains($0) }.flatMap(
                Self.words
            )
            .filter(Self.vagueWords.contains)
            .map { Violation(path: file.path, line: 1, rule: "\($0) names nothing: use a noun of the trade") }
        case .length:
            let maximum = file.folders.first == "Sources" ? Self.maximumLines : Self.maximumTestLines
            let count = file.lines.count
            if count <= maximum { return [] }
            let rule = "\(count) lines, \(maximum) are enough: which second noun moved in?"
            return [Violation(path: file.path, line: maximum + 1, rule: rule)]
        case .function:
            return file.functions.filter { $0.lines.count > Self.maximumFunctionLines }.map {
                let rule = "\($0.name) has \($0.lines.count) lines, \(Self.maximumFunctionLines) are enough"
                return Violation(path: file.path, line: $0.lines.lowerBound, rule: rule)
            }
        }
    }

    /// Returns the names of the types that the file declares or extends, at any depth; an extension of `A.B` adds both. Free
    /// functions are included, since a file without a type is named after one.
    static func declaredTypes(in file: SourceFile) -> Set<String> {
        var names: Set<String> = []
        for (index, token) in file.tokens.enumerated() {
            switch token.text {
            case "struct", "class", "enum", "actor", "protocol", "typealias", "macro", "func":
                names.insert(file.token(index + 1))
            case "extension":
                names.insert(file.token(index + 1))
                var next = index + 2
                while file.token(next) == "." {
                    names.insert(file.token(next + 1))
                    next += 2
                }
            default: continue
            }
        }
        return names
    }

    /// Returns the words of a name: `HTTPClientUtils` is `HTTP`, `Client`, `Utils`; a folder's `common` counts as `Common`.
    static func words(_ name: String) -> [String] {
        var words: [String] = []
        var current = ""
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            let nextIsLower = index + 1 < characters.count && characters[index + 1].isLowercase
            let startsWord =
                character.isUppercase && (current.last?.isUppercase != true || nextIsLower)
                || !character.isLetter
            if startsWord && !current.isEmpty {
                words.append(current)
                current = ""
            }
            if character.isLetter {
                current.append(current.isEmpty ? Character(character.uppercased()) : character)
            }
        }
        return current.isEmpty ? words : words + [current]
    }
}
