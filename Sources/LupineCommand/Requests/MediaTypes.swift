// SPDX-License-Identifier: MIT

/// The media types of files, which are derived from the extensions of their names.
enum MediaTypes {
    /// The media types by extension in lower case.
    private static let types: [String: String] = [
        "json": "application/json", "xml": "application/xml", "html": "text/html", "htm": "text/html",
        "txt": "text/plain", "md": "text/markdown", "csv": "text/csv", "css": "text/css",
        "js": "text/javascript",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp",
        "svg": "image/svg+xml", "pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip",
        "tar": "application/x-tar", "mp3": "audio/mpeg", "mp4": "video/mp4", "wasm": "application/wasm",
        "yaml": "application/yaml", "yml": "application/yaml", "swift": "text/x-swift",
    ]

    /// Returns the media type of a file; `application/octet-stream` if its extension is unknown or missing.
    static func type(ofFile path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        // A dot at the beginning hides a file and does not begin an extension.
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return "application/octet-stream"
        }
        return types[name[name.index(after: dot)...].lowercased()] ?? "application/octet-stream"
    }
}
