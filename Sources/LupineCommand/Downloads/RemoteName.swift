// SPDX-License-Identifier: MIT

internal import Foundation

/// The file name for -O: the last path component, made safe. Compares scalars, since a combining mark may attach to any
/// character.
enum RemoteName {
    /// The maximum length in bytes: a file system allows 255, and the suffix of the resume record must fit.
    private static let mostBytes = 200

    /// Returns a name given by the server, without the leading dots that would hide the file.
    static func unhidden(_ name: String) -> String {
        let shown = safe(name).unicodeScalars.drop { $0 == "." || !isVisible($0) }
        return shown.isEmpty ? "download" : String(shown)
    }

    static func of(_ url: URL) -> String {
        let name = safe(url.lastPathComponent)
        return name.isEmpty || name == "." || name == ".." ? "index.html" : name
    }

    /// Returns the name as one path component without characters that control a terminal when the name is listed. It never has
    /// the suffix of a resume record: a server that could write one could have parts of two files combined.
    private static func safe(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars where scalar != "/" && scalar != "\0" && !isLineEnd(scalar) {
            count += UTF8.width(scalar)
            guard count <= mostBytes else { break }
            result.append(TerminalFilter.isHarmless(scalar) && scalar != "\t" ? scalar : "_")
        }
        let name = String(result)
        return name.utf8.suffix(ResumeRecord.suffix.utf8.count).elementsEqual(ResumeRecord.suffix.utf8)
            ? name.dropLast() + "_" : name
    }

    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether the scalar is visible at the start of a name: not a combining mark or a character without width.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark, .format: false
        default: true
        }
    }
}

/// Where a body is saved: the file's name for the user, and its path.
struct SaveLocation: Hashable {
    let name: String
    let path: String

    /// `proposed`: the name given by the server, if it may choose one.
    init(
        _ destination: Invocation.Destination, _ proposed: String?, _ url: URL, _ context: ProcessContext,
        in folder: String? = nil
    ) {
        switch destination {
        case .file(let file):
            name = folder.map { "\($0)/\(file)" } ?? file
            path = context.path(name)
        case .remoteName:
            // A tilde is not expanded in a name that the server or the URL gives.
            let part = proposed ?? RemoteName.of(url)
            if let folder {
                name = "\(folder)/\(part)"
                path = "\(context.path(folder))/\(part)"
            } else {
                name = part.hasPrefix("~") || part.hasPrefix("-") ? "./\(part)" : part
                path = "\(context.folder)/\(part)"
            }
        }
    }

    /// Creates the file's folder. An error is reported later, when the file cannot be opened.
    func makeFolder() {
        try? FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    }
}
