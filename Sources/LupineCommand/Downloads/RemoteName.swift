// SPDX-License-Identifier: MIT

internal import Foundation

/// The name that -O gives: the last part of the path, made safe. Scalars are looked at, since a mark may combine with any.
enum RemoteName {
    /// So many bytes at most: a file system takes 255, the note of a part that is not whole included.
    private static let mostBytes = 200

    /// A name that a server gave, without the dots that would hide the file.
    static func unhidden(_ name: String) -> String {
        let shown = safe(name).unicodeScalars.drop { $0 == "." || !isSeen($0) }
        return shown.isEmpty ? "download" : String(shown)
    }

    static func of(_ url: URL) -> String {
        let name = safe(url.lastPathComponent)
        return name.isEmpty || name == "." || name == ".." ? "index.html" : name
    }

    /// The name as one part of a path, without what a terminal would obey when it is listed. It is no mark's: whoever could write one
    /// would have parts of two files put together.
    private static func safe(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars where scalar != "/" && scalar != "\0" && !isLineEnd(scalar) {
            count += UTF8.width(scalar)
            guard count <= mostBytes else { break }
            result.append(TerminalFilter.isHarmless(scalar) && scalar != "\t" ? scalar : "_")
        }
        let name = String(result)
        return name.utf8.suffix(PartialMark.suffix.utf8.count).elementsEqual(PartialMark.suffix.utf8)
            ? name.dropLast() + "_" : name
    }

    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether it can be seen at the beginning of a name: no mark, and nothing without a width.
    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark, .format: false
        default: true
        }
    }
}

/// Where a body is saved: what the user calls the file, and its path.
struct SavedPlace: Hashable {
    let name: String
    let path: String

    /// `proposed`: the name that a server gives, where that may choose.
    init(
        _ destination: Invocation.Destination, _ proposed: String?, _ url: URL, _ context: ProcessContext,
        in folder: String? = nil
    ) {
        switch destination {
        case .file(let file):
            name = folder.map { "\($0)/\(file)" } ?? file
            path = context.path(name)
        case .remoteName:
            // A tilde in a name that somebody else has given is a letter.
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

    /// Makes the folder that the file stands in; where it cannot be made, opening the file says why.
    func makeFolder() {
        try? FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    }
}
