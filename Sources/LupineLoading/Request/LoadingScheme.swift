// SPDX-License-Identifier: MIT

internal import Foundation

/// The schemes of URLs that are loaded in different ways. Compared without case.
enum LoadingScheme: Sendable {
    case http, https, ws, wss, file, data
    /// Any other scheme.
    case other
    /// There is no URL, or it has no scheme.
    case none

    init(of url: URL?) {
        guard let url else {
            self = .none
            return
        }
        // A fast path for nearly all URLs, because `URL.scheme` is slow.
        if let scheme = Self.httpScheme(of: url.absoluteString) {
            self = scheme
            return
        }
        guard let text = url.scheme, !text.isEmpty else {
            self = .none
            return
        }
        self = Self.named(text) ?? Self.named(text.lowercased()) ?? .other
    }

    /// Returns the scheme of a URL that begins with `http:` or `https:`, in lowercase; nil for others.
    private static func httpScheme(of address: String) -> LoadingScheme? {
        var address = address
        address.makeContiguousUTF8()
        let octets = address.utf8.span
        // The octets are those of "http", then ":" (0x3A) or "s:" (0x73 0x3A).
        guard octets.count > 5, octets[0] == 0x68, octets[1] == 0x74, octets[2] == 0x74, octets[3] == 0x70
        else {
            return nil
        }
        if octets[4] == 0x3A { return .http }
        return octets[4] == 0x73 && octets[5] == 0x3A ? .https : nil
    }

    /// Returns the scheme with this lowercase name.
    private static func named(_ text: String) -> LoadingScheme? {
        switch text {
        case "http": .http
        case "https": .https
        case "ws": .ws
        case "wss": .wss
        case "file": .file
        case "data": .data
        default: nil
        }
    }
}
