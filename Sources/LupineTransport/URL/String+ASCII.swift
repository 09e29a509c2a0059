// SPDX-License-Identifier: MIT

extension String {
    /// The text with A-Z changed to a-z and every other character unchanged, independent of the locale.
    var asciiLowercased: String {
        // 0x41...0x5A are A-Z; bit 0x20 makes them a-z.
        guard utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return self }
        return String(decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The text as a host: lowercased except for a zone after `%`, since interface names are case-sensitive (RFC 6874).
    var hostLowercased: String {
        let percent = UInt8(ascii: "%")
        // 0x41...0x5A are A-Z. If a zone begins before the first upper-case letter, nothing has to be changed.
        let firstMatch = utf8.firstIndex { $0 == percent || 0x41...0x5A ~= $0 }
        guard let firstMatch, utf8[firstMatch] != percent else { return self }
        guard let zone = utf8.firstIndex(of: percent) else { return asciiLowercased }
        return String(self[..<zone]).asciiLowercased + self[zone...]
    }
}
