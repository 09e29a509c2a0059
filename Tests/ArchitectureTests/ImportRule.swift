// SPDX-License-Identifier: MIT

/// Checks the imports of each module against a table. Imports run strictly downward, and every module needs a row.
///
/// Every form of an import is recognized: access levels, attributes, `import struct A.B`, submodules, several in one line.
/// `canImport` is not an import and is ignored.
struct ImportRule {
    /// A module and its allowed imports.
    struct Module {
        let name: String
        let allowed: Set<String>
        /// Imports that are allowed only in the named folders of the module; "." stands for the files beside its folders.
        var onlyIn: [String: Set<String>] = [:]
    }

    /// One import in a file.
    struct Import: Equatable {
        let module: String
        let line: Int
    }

    static let modules: [Module] = [
        Module(name: "LupineHTTP", allowed: []),
        Module(name: "LupineHTTP2", allowed: ["LupineHTTP"]),
        Module(name: "LupineCoding", allowed: ["CLupineZlib", "CLupineBrotli", "Glibc"]),
        Module(name: "LupineTLS", allowed: ["CLupineOpenSSL", "Glibc", "Synchronization"]),
        Module(
            name: "LupineTransport",
            allowed: [
                "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS", "CLupineLinux", "Glibc",
                "Synchronization",
            ],
            onlyIn: ["LupineCoding": ["Client", "Content", "Errors"]]),
        Module(
            name: "LupineLoading",
            allowed: [
                "LupineTransport", "LupineHTTP", "LupineCoding", "LupineTLS", "Foundation", "Dispatch",
                "Glibc",
                "Synchronization",
            ]),
        Module(
            name: "Lupine",
            allowed: [
                "LupineLoading", "LupineTransport", "LupineCoding", "Foundation", "Dispatch", "Glibc",
                "Synchronization",
            ],
            // For `Protected`, which is made of the transport's lock.
            onlyIn: ["LupineTransport": ["."]]),
        Module(
            name: "LupineOrigin",
            allowed: [
                "LupineTransport", "LupineHTTP", "LupineHTTP2", "LupineCoding", "LupineTLS", "CLupineLinux",
                "Foundation",
                "Glibc",
                "Synchronization",
            ]),
        Module(
            name: "LupineTesting",
            allowed: [
                "Lupine", "LupineLoading", "LupineOrigin", "LupineTransport", "LupineHTTP", "LupineTLS",
                "Foundation", "Synchronization",
            ]),
        Module(
            name: "LupineCommand",
            allowed: ["Lupine", "LupineTransport", "Foundation", "Dispatch", "Glibc", "Synchronization"]),
        Module(
            name: "LupineShow",
            allowed: [
                "LupineCommand", "Lupine", "LupineOrigin", "LupineTLS", "LupineTransport", "LupineHTTP",
                "Foundation",
                "Dispatch", "Glibc", "Synchronization",
            ]),
        Module(
            name: "lupine-command",
            allowed: ["LupineCommand", "LupineShow", "Foundation", "Dispatch", "Glibc"]),
    ]

    /// Returns a violation for each import that the table does not allow in a file of `Sources`, and for each import of
    /// FoundationNetworking outside of Benchmarks.
    static func violations(in file: SourceFile) -> [Violation] {
        imports(of: file).compactMap { found in
            reason(against: found.module, in: file).map {
                Violation(path: file.path, line: found.line, rule: $0)
            }
        }
    }

    /// Returns why a file may not import a module; nil if it may.
    private static func reason(against imported: String, in file: SourceFile) -> String? {
        let folders = file.folders
        if imported == "FoundationNetworking" {
            return folders.first == "Benchmarks" ? nil : "FoundationNetworking is imported by Benchmarks only"
        }
        guard folders.count > 1, folders[0] == "Sources" else { return nil }
        guard let module = modules.first(where: { $0.name == folders[1] }) else {
            return "module \(folders[1]) has no row in ImportRule.modules"
        }
        guard module.allowed.contains(imported) else {
            let allowed = module.allowed.isEmpty ? "nothing" : module.allowed.sorted().joined(separator: ", ")
            return "\(module.name) may not import \(imported); it may import \(allowed)"
        }
        let folder = folders.count < 3 ? "." : folders[2]
        if let allowed = module.onlyIn[imported], !allowed.contains(folder) {
            let names = allowed.sorted().joined(separator: " and ")
            return "\(module.name) may import \(imported) in its folder \(names) only"
        }
        return nil
    }

    /// Returns the imports of a file. `import` is a reserved word: it begins an import unless it is a member or in backticks.
    static func imports(of file: SourceFile) -> [Import] {
        let kinds: Set = ["typealias", "struct", "class", "enum", "protocol", "actor", "let", "var", "func"]
        return file.tokens.indices.compactMap { index in
            guard file.tokens[index].text == "import", ![".", "`"].contains(file.token(index - 1)) else {
                return nil
            }
            let next = kinds.contains(file.token(index + 1)) ? index + 2 : index + 1
            return Import(module: file.token(next), line: file.tokens[index].line)
        }
    }
}
