// SPDX-License-Identifier: MIT

internal import Foundation

/// Makes file names for -O from a URL, and for -J from the name that a server suggests. The code compares Unicode scalars and not
/// characters, since a `/` and a combining mark together are another character.
enum RemoteName {
    /// The maximum length of a name in bytes: a file system allows 255, and the suffix of the resume record must fit.
    private static let maximumByteCount = 200

    /// Returns a name that the server has suggested, sanitized and without the leading dots that would hide the file; `download`
    /// if nothing is left.
    static func visibleName(_ name: String) -> String {
        let visiblePart = sanitized(name).unicodeScalars.drop { $0 == "." || !isVisible($0) }
        return visiblePart.isEmpty ? "download" : String(visiblePart)
    }

    /// Returns the last path component of a URL, sanitized; `index.html` if there is none.
    static func name(of url: URL) -> String {
        let name = sanitized(url.lastPathComponent)
        return name.isEmpty || name == "." || name == ".." ? "index.html" : name
    }

    /// Returns the name as one path component, without characters that would control a terminal that lists the file.
    ///
    /// The result never has the suffix of a resume record, the file that says of which version a partial file is. With a record
    /// of its own, a server could make a resumed download combine parts of two versions.
    private static func sanitized(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        var byteCount = 0
        for scalar in name.unicodeScalars where scalar != "/" && scalar != "\0" && !isLineEnd(scalar) {
            byteCount += UTF8.width(scalar)
            guard byteCount <= maximumByteCount else { break }
            result.append(TerminalFilter.isHarmless(scalar) && scalar != "\t" ? scalar : "_")
        }
        let name = String(result)
        return name.utf8.suffix(ResumeRecord.suffix.utf8.count).elementsEqual(ResumeRecord.suffix.utf8)
            ? name.dropLast() + "_" : name
    }

    /// Whether Unicode counts the scalar among the line ends: LF, VT, FF, CR, NEL, LS, PS.
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

/// The file that a body is saved to.
struct SaveLocation: Hashable {
    /// The name in messages.
    let name: String
    /// The absolute path.
    let path: String

    /// Decides the name and the path of the file.
    ///
    /// - Parameters:
    ///   - destination: The argument of -o, or -O.
    ///   - serverName: The name that the server has suggested; nil unless the server may choose the name.
    ///   - url: The URL. Without `serverName`, its last path component is the name for -O.
    ///   - context: The context, whose current directory the file is relative to.
    ///   - folder: The folder of --output-dir.
    init(
        _ destination: Invocation.Destination, _ serverName: String?, _ url: URL, _ context: ProcessContext,
        in folder: String? = nil
    ) {
        switch destination {
        case .file(let file):
            name = folder.map { "\($0)/\(file)" } ?? file
            path = context.path(name)
        case .remoteName:
            // A tilde is not expanded in a name that the server or the URL gives.
            let component = serverName ?? RemoteName.name(of: url)
            if let folder {
                name = "\(folder)/\(component)"
                path = "\(context.path(folder))/\(component)"
            } else {
                // Without a prefix, the name on a command line would be a home folder or an option.
                let needsPrefix = component.hasPrefix("~") || component.hasPrefix("-")
                name = needsPrefix ? "./\(component)" : component
                path = "\(context.folder)/\(component)"
            }
        }
    }

    /// Creates the file's folder. An error is reported later, when the file cannot be opened.
    func makeFolder() {
        try? FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    }
}
