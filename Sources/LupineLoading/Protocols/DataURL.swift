// SPDX-License-Identifier: MIT

/// The parsed contents of a `data:` URL (RFC 2397): media type, charset and content (U-18.2).
///
/// Pure; accepts any text.
package struct DataURL: Hashable, Sendable {
    /// The media type in lowercase, without parameters.
    package let mimeType: String
    /// The charset as it was given; the default of RFC 2397 if no type is given.
    package let charset: String?
    /// The content.
    package let content: [UInt8]

    /// Parses a URL. Returns nil if the scheme is not `data:`, or if there is no comma or invalid base64.
    package init?(_ text: String) {
        let urlOctets = Array(text.utf8)
        let scheme = Array("data:".utf8)
        guard urlOctets.count >= scheme.count,
            urlOctets[..<scheme.count].elementsEqual(scheme, by: { Self.lowercased($0) == $1 })
        else { return nil }
        // The fragment is not part of the content.
        let afterScheme = urlOctets[scheme.count...].prefix { $0 != UInt8(ascii: "#") }
        guard let comma = afterScheme.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        var parts = afterScheme[..<comma]
            .split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Self.trimmed(Self.percentDecoded($0)) }
        let isBase64 = parts.count > 1 && parts.last.map { Self.lowercasedText($0) == "base64" } == true
        if isBase64 { parts.removeLast() }
        let type = parts.first.flatMap(Self.visibleText)?.lowercased()
        var charset: String?
        for part in parts.dropFirst() where charset == nil {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
                Self.lowercasedText(Array(part[..<equals])) == "charset"
            else { continue }
            charset = Self.visibleText(part[(equals + 1)...].filter { $0 != UInt8(ascii: "\"") })
        }
        mimeType = type ?? "text/plain"
        self.charset = charset ?? (type == nil ? "US-ASCII" : nil)
        let octets = Self.percentDecoded(afterScheme[(comma + 1)...])
        guard isBase64 else {
            content = octets
            return
        }
        guard let decoded = Self.base64Decoded(octets) else { return nil }
        content = decoded
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= octet ? octet + 0x20 : octet
    }

    /// Returns the text of the octets in lowercase.
    private static func lowercasedText(_ octets: [UInt8]) -> String {
        String(decoding: octets.map(lowercased), as: UTF8.self)
    }

    /// Returns the trimmed text if it consists of visible ASCII characters only; nil for other octets, which are then ignored.
    private static func visibleText(_ octets: [UInt8]) -> String? {
        let trimmed = trimmed(octets)
        guard !trimmed.isEmpty, trimmed.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
        return String(decoding: trimmed, as: UTF8.self)
    }

    /// Whether the octet is a space, tab, LF, FF or CR.
    private static func isBlank(_ octet: UInt8) -> Bool {
        octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0C || octet == 0x0D
    }

    private static func trimmed(_ octets: [UInt8]) -> [UInt8] {
        let start = octets.firstIndex { !isBlank($0) } ?? octets.endIndex
        let end = octets.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        return Array(octets[start..<end])
    }

    /// Decodes percent-encoding; a percent sign without two hexadecimal digits after it is kept.
    private static func percentDecoded(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        let percent = UInt8(ascii: "%")
        guard octets.contains(percent) else { return Array(octets) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(octets.count)
        var index = octets.startIndex
        while index < octets.endIndex {
            if octets[index] == percent, octets.endIndex - index > 2, let high = digit(octets[index + 1]),
                let low = digit(octets[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(octets[index])
                index += 1
            }
        }
        return decoded
    }

    /// Returns the value of a hexadecimal digit; nil for other octets.
    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Decodes base64 (RFC 4648 §4) as browsers do: white space is ignored, and padding may be missing. Returns nil for other
    /// symbols than those of base64.
    private static func base64Decoded(_ octets: [UInt8]) -> [UInt8]? {
        var symbols = octets.filter { !isBlank($0) }
        if symbols.count % 4 == 0 {
            for _ in 0..<2 where symbols.last == UInt8(ascii: "=") { symbols.removeLast() }
        }
        // A single last symbol has too few bits for an octet.
        guard symbols.count % 4 != 1 else { return nil }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(symbols.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        for symbol in symbols {
            guard let value = sextet(symbol) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return decoded
    }

    /// Returns the six bits that a symbol of base64 stands for; nil for other octets.
    private static func sextet(_ symbol: UInt8) -> UInt8? {
        switch symbol {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): symbol - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): symbol - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): symbol - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
