// SPDX-License-Identifier: MIT

internal import Foundation

/// How archives of requests and responses store a URL: as its text and that of its base. Foundation's own archive of a URL traps
/// when the text is not a URL.
extension OctetWriter {
    /// Writes a URL or nil; the absolute URL if the parts could not be read again.
    mutating func write(_ url: URL?) {
        let whole: String? = url?.absoluteString
        let parts: (text: String?, base: String?) = (url?.relativeString, url?.baseURL?.absoluteString)
        let isReadable = parts.text.map { URL(archived: $0, base: parts.base) != nil } ?? true
        write(isReadable ? parts.text : whole)
        if url != nil { write(isReadable ? parts.base : nil) }
    }
}

extension OctetReader {
    /// Reads a URL or nil.
    mutating func url() throws(Damage) -> URL? {
        guard let text = try optionalText() else { return nil }
        guard let url = URL(archived: text, base: try optionalText()) else { throw Damage() }
        return url
    }
}

extension URL {
    /// The URL with these texts; fails unless it would be archived as the same texts.
    fileprivate init?(archived text: String, base: String?) {
        let baseURL = base.flatMap { URL(string: $0) }
        guard baseURL?.absoluteString == base, let url = URL(string: text, relativeTo: baseURL),
            url.relativeString == text, url.baseURL?.absoluteString == base
        else { return nil }
        self = url
    }
}
