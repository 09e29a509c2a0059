// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// The checked-out repository: where it is and which files it holds. Read only, and only by these tests.
///
/// The root is found from this file's own path, so the tests look at the sources they were compiled from. Build
/// folders (`.build…`) and symbolic links are left out: `Fuzz/House` leads back to `Sources`.
struct Repository {
    let root: String

    static let here = Repository(root: ancestor(of: #filePath, levels: 3))

    /// The files below `folder` whose name ends in one of `suffixes`, as paths from the root, in order.
    func paths(under folder: String, endingIn suffixes: [String]) -> [String] {
        var found: [String] = []
        var open = [folder]
        while let directory = open.popLast() {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(directory)")) ?? [] {
                if name.hasPrefix(".build") || name == ".git" { continue }
                let path = directory == "." ? name : "\(directory)/\(name)"
                switch kind(of: path) {
                case .typeDirectory?: open.append(path)
                case .typeRegular? where suffixes.contains(where: name.hasSuffix): found.append(path)
                default: continue
                }
            }
        }
        return found.sorted()
    }

    /// The Swift files below each of `folders`, lexed.
    func swiftFiles(under folders: String...) throws -> [SourceFile] {
        try folders.flatMap { paths(under: $0, endingIn: [".swift"]) }.map { try file($0) }
    }

    /// One file, lexed once for all tests.
    func file(_ path: String) throws -> SourceFile {
        try Self.lexed.withLock { lexed in
            if let file = lexed[path] { return file }
            let file = SourceFile(path: path, text: try text(path))
            lexed[path] = file
            return file
        }
    }

    private static let lexed = Mutex<[String: SourceFile]>([:])

    /// The text of one file; bytes that are not UTF-8 are replaced.
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
