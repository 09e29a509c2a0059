// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Suggests a file name for a response's content (U-2.4): the name that `Content-Disposition` proposes (RFC 6266, RFC 8187),
/// otherwise the last component of the URL's path, otherwise `Unknown`.
///
/// A server must not choose where a file is stored: every result is a single path component, and neither `.` nor `..`.
enum SuggestedFilename {
    private static let unknown = "Unknown"

    /// Returns the last component of the URL's path; adds the extension of the media type if it has no extension.
    static func from(url: URL?, mimeType: String?) -> String {
        guard let url else { return unknown }
        let path = url.path(percentEncoded: true)
        guard let segment = path.split(separator: "/").last.map(String.init) else { return unknown }
        let octets = Array((segment.removingPercentEncoding ?? segment).utf8)
        let name = sanitised(octets.span.text(0..<octets.count))
        guard name != unknown, (name as NSString).pathExtension.isEmpty,
            let suffix = mimeType.flatMap(MediaType.fileExtension)
        else { return name }
        return name + "." + suffix
    }

    /// Returns the name that a `Content-Disposition` value proposes, unchanged; nil if it proposes none.
    static func proposed(by disposition: String) -> String? {
        var octets = Array(disposition.utf8)
        let firstPart = ListSyntax.valueWithoutParameters(of: 0..<octets.count, in: octets.span)
        // Some servers omit the disposition type, so that the value begins with a parameter.
        if octets[firstPart].contains(UInt8(ascii: "=")) {
            octets.insert(contentsOf: Array("attachment;".utf8), at: 0)
        }
        var plain: String?
        var extended: String?
        ListSyntax.forEachParameter(of: 0..<octets.count, in: octets.span) { name, value in
            switch name.lowercased() {
            case "filename": plain = plain ?? value
            case "filename*": extended = extended ?? decoded(value)
            default: break
            }
        }
        return extended ?? plain
    }

    /// Makes a name safe as a single path component.
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

    /// Decodes an extended value, `charset'language'percent-encoded` (RFC 8187 §3.2), in one of the two charsets in use.
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let octets = octets(of: parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8":
            // `text(_:)` would read invalid UTF-8 as Latin-1, so the octets are validated first.
            return String(validating: octets, as: UTF8.self) == nil ? nil : octets.span.text(0..<octets.count)
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
    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x30...0x39: octet - 0x30
        case 0x41...0x46: octet - 0x41 + 10
        case 0x61...0x66: octet - 0x61 + 10
        default: nil
        }
    }
}
