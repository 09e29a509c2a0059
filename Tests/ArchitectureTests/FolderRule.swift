// SPDX-License-Identifier: MIT

/// Checks that the folders of a module depend on each other in one direction: a folder uses only folders that the module's page
/// lists before it.
///
/// A folder uses another one if one of its files names a type that a file of the other folder declares at its top level and not
/// privately. A folder inside another one is a separate folder; the files beside the folders belong to the folder `.`.
/// `folders.txt` lists exceptions as `Sources/Module | From -> To | reason`.
struct FolderRule {
    /// A folder in the list on the module's page.
    struct Row: Equatable {
        let folder: String
        let uses: Set<String>
    }

    static let exemptionsPath = "Tests/ArchitectureTests/folders.txt"
    static let maximumFiles = 20

    let module: String
    /// The number of files of each folder.
    private(set) var sizes: [String: Int] = [:]
    /// For each folder, the folders that it uses, each with the using files and the types that they name: `File (Type, Type)`.
    private(set) var uses: [String: [String: [String]]] = [:]

    init(module: String, files: [SourceFile]) {
        self.module = module
        var folderOfType: [String: String] = [:]
        for file in files {
            sizes[Self.folder(of: file), default: 0] += 1
            for type in Self.declaredTypes(in: file) where folderOfType[type] == nil {
                folderOfType[type] = Self.folder(of: file)
            }
        }
        for file in files {
            let folder = Self.folder(of: file)
            var named: [String: Set<String>] = [:]
            for token in file.tokens {
                guard let other = folderOfType[token.text], other != folder else { continue }
                named[other, default: []].insert(token.text)
            }
            for (other, types) in named {
                let names = types.sorted().joined(separator: ", ")
                uses[folder, default: [:]][other, default: []].append("\(file.stem) (\(names))")
            }
        }
    }

    /// Returns the path of the page that lists a module's folders. The page of `Lupine` is for users, so another one lists its
    /// folders.
    static func page(of module: String) -> String {
        module == "Lupine"
            ? "Documentation/Lupine.docc/HowARequestTravels.md"
            : "Sources/\(module)/\(module).docc/\(module).md"
    }

    /// Returns the folders that a page lists below its heading `## Folders`. Each item begins with the folder's name, and ends
    /// with a sentence `Uses …` if the folder uses others.
    static func rows(in page: String) -> [Row] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: "## Folders") else { return [] }
        var items: [String] = []
        for line in lines[(start + 1)...].prefix(while: { !$0.hasPrefix("## ") }) {
            if line.hasPrefix("- ") { items.append(String(line)) }
            if line.hasPrefix("  "), let last = items.popLast() { items.append(last + line.dropFirst(1)) }
        }
        return items.compactMap { item in
            let quoted = { (text: Substring) in
                text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            }
            guard let name = quoted(item[...]).first else { return nil }
            let uses = item.firstRange(of: ". Uses ").map { quoted(item[$0.upperBound...]) } ?? []
            return Row(folder: name, uses: Set(uses))
        }
    }

    /// Returns the errors on a page and the violations of the rule, each with the key for exemptions.
    func violations(page: String) -> [(rule: String, violation: Violation)] {
        let rows = Self.rows(in: page)
        var found: [(String, Violation)] = []
        func add(_ key: String, _ rule: String) {
            found.append((key, Violation(path: "Sources/\(module)", line: 1, rule: rule)))
        }
        let listed = rows.map(\.folder)
        for folder in Set(sizes.keys).symmetricDifference(listed).sorted() {
            add("list", "\(Self.page(of: module)) and the sources do not have the same folders: \(folder)")
        }
        for (folder, count) in sizes.sorted(by: { $0.key < $1.key }) where count > Self.maximumFiles {
            add("size", "\(folder) has \(count) files, \(Self.maximumFiles) are enough")
        }
        for (index, row) in rows.enumerated() {
            let used = uses[row.folder] ?? [:]
            for other in row.uses.symmetricDifference(used.keys).sorted() {
                let actual = used[other]?.sorted().joined(separator: "; ") ?? "it does not"
                add(
                    "list",
                    "\(Self.page(of: module)) is wrong about whether \(row.folder) uses \(other): \(actual)")
            }
            for (other, files) in used.sorted(by: { $0.key < $1.key }) where !listed[..<index].contains(other)
            {
                let files = files.sorted().joined(separator: "; ")
                add(
                    "\(row.folder) -> \(other)", "\(row.folder) uses \(other), which comes after it: \(files)"
                )
            }
        }
        return found
    }

    /// Returns the names of the types that a file declares at its top level and not privately.
    static func declaredTypes(in file: SourceFile) -> [String] {
        let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        var depth = 0
        var isPrivate = false
        var types: [String] = []
        for (index, token) in file.tokens.enumerated() {
            switch token.text {
            case "{": depth += 1
            case "}":
                depth -= 1
                isPrivate = false
            case "private", "fileprivate": isPrivate = depth == 0
            case "func", "let", "var", "extension", "import": if depth == 0 { isPrivate = false }
            case _ where depth == 0 && kinds.contains(token.text) && file.token(index - 1) != "import":
                if !isPrivate { types.append(file.token(index + 1)) }
                isPrivate = false
            default: break
            }
        }
        return types
    }

    private static func folder(of file: SourceFile) -> String {
        let folders = file.folders.dropFirst(2)
        return folders.isEmpty ? "." : folders.joined(separator: "/")
    }
}
