// SPDX-License-Identifier: MIT

internal import Foundation

extension String.Encoding {
    /// Creates the encoding with this name in the IANA character set registry, ignoring case. Returns nil for encodings other
    /// than those of Unicode and ISO 8859-1.
    init?(ianaCharsetName name: String) {
        switch name.lowercased() {
        case "utf-8": self = .utf8
        case "iso-8859-1": self = .isoLatin1
        case "unicode-1-1", "iso-10646-ucs-2", "utf-16": self = .utf16
        case "utf-16be": self = .utf16BigEndian
        case "utf-16le": self = .utf16LittleEndian
        case "utf-32": self = .utf32
        case "utf-32be": self = .utf32BigEndian
        case "utf-32le": self = .utf32LittleEndian
        default: return nil
        }
    }
}
