// SPDX-License-Identifier: MIT

/// Maps media types to file name extensions and back.
///
/// Contains only types with generally accepted names. The table of the system (`/etc/mime.types`) is not used, so that a program
/// behaves the same on every machine.
enum MediaType {
    /// Each type with its extensions, the most common one first.
    private static let table: [(type: String, extensions: [String])] = [
        ("application/epub+zip", ["epub"]),
        ("application/gzip", ["gz"]),
        ("application/java-archive", ["jar"]),
        ("application/json", ["json"]),
        ("application/ld+json", ["jsonld"]),
        ("application/msword", ["doc"]),
        ("application/pdf", ["pdf"]),
        ("application/rtf", ["rtf"]),
        ("application/vnd.ms-excel", ["xls"]),
        ("application/vnd.ms-powerpoint", ["ppt"]),
        ("application/vnd.oasis.opendocument.spreadsheet", ["ods"]),
        ("application/vnd.oasis.opendocument.text", ["odt"]),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation", ["pptx"]),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ["xlsx"]),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", ["docx"]),
        ("application/wasm", ["wasm"]),
        ("application/x-7z-compressed", ["7z"]),
        ("application/x-bzip2", ["bz2"]),
        ("application/x-ndjson", ["ndjson"]),
        ("application/x-tar", ["tar"]),
        ("application/xhtml+xml", ["xhtml"]),
        ("application/xml", ["xml"]),
        ("application/zip", ["zip"]),
        ("audio/aac", ["aac"]),
        ("audio/flac", ["flac"]),
        ("audio/mp4", ["m4a"]),
        ("audio/mpeg", ["mp3"]),
        ("audio/ogg", ["ogg", "oga"]),
        ("audio/wav", ["wav"]),
        ("font/otf", ["otf"]),
        ("font/ttf", ["ttf"]),
        ("font/woff", ["woff"]),
        ("font/woff2", ["woff2"]),
        ("image/avif", ["avif"]),
        ("image/bmp", ["bmp"]),
        ("image/gif", ["gif"]),
        ("image/heic", ["heic"]),
        ("image/jpeg", ["jpg", "jpeg"]),
        ("image/png", ["png"]),
        ("image/svg+xml", ["svg"]),
        ("image/tiff", ["tiff", "tif"]),
        ("image/vnd.microsoft.icon", ["ico"]),
        ("image/webp", ["webp"]),
        ("text/calendar", ["ics"]),
        ("text/css", ["css"]),
        ("text/csv", ["csv"]),
        ("text/html", ["html", "htm"]),
        ("text/javascript", ["js", "mjs"]),
        ("text/markdown", ["md"]),
        ("text/plain", ["txt", "log"]),
        ("text/vcard", ["vcf"]),
        ("video/mp4", ["mp4", "m4v"]),
        ("video/mpeg", ["mpeg", "mpg"]),
        ("video/quicktime", ["mov"]),
        ("video/webm", ["webm"]),
        ("video/x-msvideo", ["avi"]),
    ]

    /// Other names of types in the table, with the names in the table.
    private static let aliases = [
        "application/javascript": "text/javascript",
        "application/x-gzip": "application/gzip",
        "application/x-javascript": "text/javascript",
        "image/jpg": "image/jpeg",
        "image/x-icon": "image/vnd.microsoft.icon",
        "text/json": "application/json",
        "text/xml": "application/xml",
    ]

    /// The most common extension of each type.
    private static let extensionsByType = Dictionary(
        uniqueKeysWithValues: table.compactMap { row in row.extensions.first.map { (row.type, $0) } })

    /// The type of each extension.
    private static let typesByExtension = Dictionary(
        uniqueKeysWithValues: table.flatMap { row in row.extensions.map { ($0, row.type) } })

    /// Returns the most common extension of a type, which must be in lowercase; nil for a type that is not in the table.
    static func fileExtension(of type: String) -> String? { extensionsByType[aliases[type] ?? type] }

    /// Returns the type of an extension, which is compared without case; nil for an extension that is not in the table.
    static func type(ofExtension suffix: String) -> String? { typesByExtension[suffix.lowercased()] }
}
