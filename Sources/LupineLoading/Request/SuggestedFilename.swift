// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Suggests a file name for a response's content (U-2.4): the name that `Content-Disposition` proposes (RFC 6266, RFC 8187),
/// otherwise the last component of the URL's path, otherwise `Unknown`.
///
/// A server must not choose where a file is stored: every result is a single path component, and neither `.` nor `..`.
enum SuggestedFilename {
    /// The name if neither the header field nor the URL contains one.
    private static let unknown = "Unknown"

    /// Returns the last component of the URL's path. If it has no file name extension, adds the extension of the media type.
    static func from(url: URL?, mimeType: String?) -> String {
        guard let url else { return unknown }
        let path = url.path(percentEncoded: true)
        guard let segment = path.split(separator: "/").last.map(String.init) else { return unknown }
        let octets = Array((segment.removingPercentEncoding ?? segment).utf8)
        // If the name has a long run of combining characters, which is slow to process, `text(_:)` reads it as Latin-1.
        let name = sanitised(octets.span.text(0..<octets.count))
        guard name != unknown, (name as NSString).pathExtension.isEmpty,
            let suffix = mimeType.flatMap(MediaType.fileExtension)
        else { return name }
        return name + "." + suffix
    }

    /// Returns the name that the value of a `Content-Disposition` field proposes, unchanged; nil if it proposes none. The
    /// parameter `filename*`, which can have characters outside of ASCII, takes precedence over `filename`.
    static func proposed(by disposition: String) -> String? {
        var octets = Array(disposition.utf8)
        let dispositionType = ListSyntax.valueWithoutParameters(of: 0..<octets.count, in: octets.span)
        // Some servers omit the disposition type, so that the value begins with a parameter. Then a type is inserted.
        if octets[dispositionType].contains(UInt8(ascii: "=")) {
            octets.insert(contentsOf: Array("attachment;".utf8), at: 0)
        }
        var plainName: String?
        var extendedName: String?
        ListSyntax.forEachParameter(of: 0..<octets.count, in: octets.span) { name, value in
            switch name.lowercased() {
            case "filename": plainName = plainName ?? value
            case "filename*": extendedName = extendedName ?? decoded(value)
            default: break
            }
        }
        return extendedName ?? plainName
    }

    /// Returns the name as a safe path component: with `_` instead of `/`, and without control characters. Returns `Unknown` for
    /// an empty name, for `.` and `..`, and for a name with a long run of combining characters.
    static func sanitised(_ name: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            if scalar == "/" {
                safe.append("_")
            } else if scalar.properties.generalCategory != .control {
                safe.append(scalar)
            }
        }
        let text = String(safe)
        // Removing characters may have joined runs of combining characters; a long run is slow to process.
        guard text.isStreamSafe, !["", ".", ".."].contains(where: text.hasSameOctets) else { return unknown }
        return text
    }

    /// Decodes an extended value, `charset'language'percent-encoded` (RFC 8187 §3.2). Returns nil if the value is malformed or
    /// has a charset other than UTF-8 and ISO-8859-1.
    private static func decoded(_ value: String) -> String? {
        let segments = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard segments.count == 3, let octets = octets(of: segments[2]) else { return nil }
        let charset = segments[0].lowercased()
        switch charset {
        case "utf-8":
            // `text(_:)` would read invalid UTF-8 as Latin-1, so the octets are validated first.
            return String(validating: octets, as: UTF8.self) == nil ? nil : octets.span.text(0..<octets.count)
        // In ISO-8859-1, each octet is the number of its Unicode scalar.
        case "iso-8859-1": return String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// Decodes percent-encoding; returns nil if it is malformed.
    private static func octets(of encoded: Substring) -> [UInt8]? {
        var octets: [UInt8] = []
        var input = encoded.utf8[...]
        while let octet = input.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = input.popFirst().flatMap(digit), let low = input.popFirst().flatMap(digit) else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return octets
    }

    /// Returns the value of a hexadecimal digit: `0` to `9` (0x30...0x39), `A` to `F` (0x41...0x46), `a` to `f` (0x61...0x66).
    /// Returns nil for other octets.
    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x30...0x39: octet - 0x30
        case 0x41...0x46: octet - 0x41 + 10
        case 0x61...0x66: octet - 0x61 + 10
        default: nil
        }
    }
}
