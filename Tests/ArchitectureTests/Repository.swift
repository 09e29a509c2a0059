// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// The checked-out repository, whose files these tests read.
///
/// Its root is computed from the path of this file, so that the tests read the sources from which they were compiled. Build
/// folders (`.build…`) and symbolic links are omitted: `Fuzz/House` is a link to `Sources`.
struct Repository {
    let root: String

    static let here = Repository(root: ancestor(of: #filePath, levels: 3))

    /// Returns the files below `folder` whose names end in one of `suffixes`, as sorted paths from the root.
    func paths(under folder: String, endingIn suffixes: [String]) -> [String] {
        var found: [String] = []
        var pending = [folder]
        while let directory = pending.popLast() {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(directory)")) ?? [] {
                if name.hasPrefix(".build") || name == ".git" { continue }
                let path = directory == "." ? name : "\(directory)/\(name)"
                switch kind(of: path) {
                case .typeDirectory?: pending.append(path)
                case .typeRegular? where suffixes.contains(where: name.hasSuffix): found.append(path)
                default: continue
                }
            }
        }
        return found.sorted()
    }

    /// Returns the Swift files below each of `folders`.
    func swiftFiles(under folders: String...) throws -> [SourceFile] {
        try folders.flatMap { paths(under: $0, endingIn: [".swift"]) }.map { try file($0) }
    }

    /// Returns a Swift file, which is lexed once for all tests.
    func file(_ path: String) throws -> SourceFile {
        try Self.lexed.withLock { lexed in
            if let file = lexed[path] { return file }
            let file = SourceFile(path: path, text: try text(path))
            lexed[path] = file
            return file
        }
    }

    private static let lexed = Mutex<[String: SourceFile]>([:])

    /// Returns the text of a file; bytes that are not UTF-8 are replaced.
    func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(root)/\(path)")), as: UTF8.self)
    }

    private func kind(of path: String) -> FileAttributeType? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(root)/\(path)")
        return attributes?[.type] as? FileAttributeType
    }

    private static func ancestor(of path: String, levels: Int) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).dropLast(levels).joined(separator: "/")
    }
}
