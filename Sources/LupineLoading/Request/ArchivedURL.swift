// SPDX-License-Identifier: MIT

internal import Foundation

/// How archives of requests and responses hold an address: by its text and that of what it is relative to. Foundation's own archive
/// of a URL ends the process where the text is none.
extension OctetWriter {
    /// An address or none; the whole of it where its parts cannot be read again.
    mutating func write(_ url: URL?) {
        let whole: String? = url?.absoluteString
        let parts: (text: String?, base: String?) = (url?.relativeString, url?.baseURL?.absoluteString)
        let isReadable = parts.text.map { URL(archived: $0, base: parts.base) != nil } ?? true
        write(isReadable ? parts.text : whole)
        if url != nil { write(isReadable ? parts.base : nil) }
    }
}

extension OctetReader {
    /// An address or none.
    mutating func url() throws(Damage) -> URL? {
        guard let text = try optionalText() else { return nil }
        guard let url = URL(archived: text, base: try optionalText()) else { throw Damage() }
        return url
    }
}

extension URL {
    /// The address whose texts these are, and would be again.
    fileprivate init?(archived text: String, base: String?) {
        let baseURL = base.flatMap { URL(string: $0) }
        guard baseURL?.absoluteString == base, let url = URL(string: text, relativeTo: baseURL),
            url.relativeString == text, url.baseURL?.absoluteString == base
        else { return nil }
        self = url
    }
}
