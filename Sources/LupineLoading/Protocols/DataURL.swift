// SPDX-License-Identifier: MIT

/// The parsed contents of a `data:` URL (RFC 2397): media type, charset and content (U-18.2). The syntax is
/// `data:[<media type>][;<parameter>=<value>]...[;base64],<content>`.
package struct DataURL: Hashable, Sendable {
    /// The media type in lowercase, without parameters.
    package let mimeType: String
    /// The parameter `charset` as spelled in the URL. Without one it is nil, or `US-ASCII` if the URL has no media type either
    /// (RFC 2397).
    package let charset: String?
    /// The content.
    package let content: [UInt8]

    /// Parses the text of a URL. Returns nil if the scheme is not `data:`, if there is no comma, or if the base64 is not valid.
    package init?(_ text: String) {
        let urlOctets = Array(text.utf8)
        let scheme = Array("data:".utf8)
        guard urlOctets.count >= scheme.count,
            urlOctets[..<scheme.count].elementsEqual(scheme, by: { Self.lowercased($0) == $1 })
        else { return nil }
        // The fragment is not part of the content.
        let afterScheme = urlOctets[scheme.count...].prefix { $0 != UInt8(ascii: "#") }
        guard let comma = afterScheme.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        // The media type, its parameters and, at the end, perhaps `base64`.
        var segments = afterScheme[..<comma]
            .split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Self.trimmed(Self.percentDecoded($0)) }
        let isBase64 =
            segments.count > 1 && segments.last.map { Self.lowercasedText($0) == "base64" } == true
        if isBase64 { segments.removeLast() }
        let type = segments.first.flatMap(Self.visibleText)?.lowercased()
        var charset: String?
        for parameter in segments.dropFirst() where charset == nil {
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
                Self.lowercasedText(Array(parameter[..<equals])) == "charset"
            else { continue }
            charset = Self.visibleText(parameter[(equals + 1)...].filter { $0 != UInt8(ascii: "\"") })
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

    /// Returns the lowercase letter of an ASCII capital; any other octet unchanged.
    private static func lowercased(_ octet: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= octet ? octet + 0x20 : octet
    }

    /// Returns the text of the octets in lowercase.
    private static func lowercasedText(_ octets: [UInt8]) -> String {
        String(decoding: octets.map(lowercased), as: UTF8.self)
    }

    /// Returns the trimmed text if it consists of visible ASCII characters only (0x21...0x7E); nil for an empty text and for any
    /// other octets, which the caller ignores.
    private static func visibleText(_ octets: [UInt8]) -> String? {
        let trimmed = trimmed(octets)
        guard !trimmed.isEmpty, trimmed.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
        return String(decoding: trimmed, as: UTF8.self)
    }

    /// Returns whether the octet is a space, tab, LF, FF or CR.
    private static func isBlank(_ octet: UInt8) -> Bool {
        octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0C || octet == 0x0D
    }

    /// Returns the octets without blanks at both ends.
    private static func trimmed(_ octets: [UInt8]) -> [UInt8] {
        let start = octets.firstIndex { !isBlank($0) } ?? octets.endIndex
        let end = octets.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        return Array(octets[start..<end])
    }

    /// Decodes percent-encoding. A percent sign without two hexadecimal digits after it stays a percent sign.
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

    /// Decodes base64 (RFC 4648 §4) as browsers do: white space is ignored, and padding may be missing. Returns nil if the octets
    /// contain a character that base64 does not use.
    private static func base64Decoded(_ octets: [UInt8]) -> [UInt8]? {
        var symbols = octets.filter { !isBlank($0) }
        // Removes the padding: at most two equals signs, which make the number of symbols a multiple of four.
        if symbols.count % 4 == 0 {
            for _ in 0..<2 where symbols.last == UInt8(ascii: "=") { symbols.removeLast() }
        }
        // Four symbols stand for three octets. A single symbol has too few bits for one octet.
        guard symbols.count % 4 != 1 else { return nil }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(symbols.count / 4 * 3 + 2)
        // The lowest `pendingBits` bits of `bits` are not decoded yet. Higher bits are old ones, which the conversion to `UInt8`
        // and later shifts remove.
        var bits: UInt32 = 0
        var pendingBits = 0
        for symbol in symbols {
            guard let value = sextet(symbol) else { return nil }
            bits = bits << 6 | UInt32(value)
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(pendingBits)))
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
