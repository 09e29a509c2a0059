// SPDX-License-Identifier: MIT

internal import Foundation

/// The schemes of URLs between which the loader distinguishes.
enum LoadingScheme: Sendable {
    case http, https, ws, wss, file, data
    /// Any other scheme.
    case other
    /// There is no URL, or the URL has no scheme.
    case none

    /// Determines the scheme of a URL, without regard to case.
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
        // The text is converted to lowercase only if it is not found as it is.
        self = Self.scheme(named: text) ?? Self.scheme(named: text.lowercased()) ?? .other
    }

    /// Returns the scheme of a URL that begins with `http:` or `https:` in lowercase; nil for all other URLs.
    private static func httpScheme(of address: String) -> LoadingScheme? {
        var address = address
        address.makeContiguousUTF8()
        let octets = address.utf8.span
        // Compares single octets, because this is faster than comparing texts. 0x68 0x74 0x74 0x70 is "http", 0x3A is ":", and
        // 0x73 0x3A is "s:".
        guard octets.count > 5, octets[0] == 0x68, octets[1] == 0x74, octets[2] == 0x74, octets[3] == 0x70
        else {
            return nil
        }
        if octets[4] == 0x3A { return .http }
        return octets[4] == 0x73 && octets[5] == 0x3A ? .https : nil
    }

    /// Returns the scheme with this name, which is in lowercase; nil for a scheme that has no case of its own.
    private static func scheme(named name: String) -> LoadingScheme? {
        switch name {
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
