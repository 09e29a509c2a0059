// SPDX-License-Identifier: MIT

internal import Foundation

/// Archives a URL as its relative text and the text of its base URL. This does not use `NSCoder`, because Foundation traps when
/// it decodes a text that is not a URL.
extension OctetWriter {
    /// Writes a URL or nil. Writes the absolute URL, without a base, if the reader could not recreate the URL from the two texts.
    mutating func write(_ url: URL?) {
        let absolute: String? = url?.absoluteString
        let parts: (text: String?, base: String?) = (url?.relativeString, url?.baseURL?.absoluteString)
        // The reader checks the two texts with the same initializer. Nil, which has no texts, is always readable.
        let isReadable = parts.text.map { URL(archived: $0, base: parts.base) != nil } ?? true
        write(isReadable ? parts.text : absolute)
        // Nil has no base.
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
    /// Creates the URL with this relative text and base. Fails if the URL would have other texts, so that it would be archived
    /// differently.
    fileprivate init?(archived text: String, base: String?) {
        let baseURL = base.flatMap { URL(string: $0) }
        guard baseURL?.absoluteString == base, let url = URL(string: text, relativeTo: baseURL),
            url.relativeString == text, url.baseURL?.absoluteString == base
        else { return nil }
        self = url
    }
}
