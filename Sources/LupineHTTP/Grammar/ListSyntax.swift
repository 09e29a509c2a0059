// SPDX-License-Identifier: MIT

/// Parses field values that are lists, and elements with parameters: RFC 9110 §5.6.
///
/// All functions read borrowed octets and return ranges; they make strings only of the requested parts. They accept any input: an
/// unclosed quoted string ends with the value.
package enum ListSyntax {
    /// The maximum number of parameters of an element that `forEachParameter` reads. Callers pass it to `forEachElement` if
    /// processing an element costs more than reading its octets. Elements and parameters after this number are ignored.
    package static let elementLimit = 256

    /// Calls `body` with the range of each element between commas, without surrounding blanks; commas in quoted strings are
    /// ignored and empty elements are skipped (RFC 9110 §5.6.1.2). Elements after the first `limit` are ignored.
    package static func forEachElement(
        in bytes: Span<UInt8>, upTo limit: Int = .max, _ body: (Range<Int>) -> Void
    ) {
        split(bytes, 0..<bytes.count, at: Octet.comma, upTo: limit, body)
    }

    /// Calls `body` with the range of each element, including empty ones: a value has one element more than it has separating
    /// commas.
    static func forEachElementOrEmpty(in bytes: Span<UInt8>, _ body: (Range<Int>) -> Void) {
        split(bytes, 0..<bytes.count, at: Octet.comma, keepingEmpty: true, body)
    }

    /// Whether a list contains the element `token`, given in lower case and compared case-insensitively.
    package static func contains(_ token: String, in bytes: Span<UInt8>) -> Bool {
        var isFound = false
        forEachElement(in: bytes) { isFound = isFound || bytes.equals(lowercased: token, in: $0) }
        return isFound
    }

    /// Returns an element without its parameters: `text/html` of `text/html; charset=utf-8`. A semicolon in a quoted string does
    /// not end it.
    package static func valueWithoutParameters(of element: Range<Int>, in bytes: Span<UInt8>) -> Range<Int> {
        var principal: Range<Int>?
        split(bytes, element, at: Octet.semicolon, keepingEmpty: true) { principal = principal ?? $0 }
        return principal ?? element
    }

    /// Calls `body` with the name and value of each parameter of an element, in order (RFC 9110 §5.6.6), up to `elementLimit` of
    /// them. Quotes and quoted pairs are removed; a parameter without `=` has an empty value.
    package static func forEachParameter(
        of element: Range<Int>, in bytes: Span<UInt8>, _ body: (_ name: String, _ value: String) -> Void
    ) {
        // The first part is the element itself, which is why the limit is one higher.
        var isPrincipal = true
        split(bytes, element, at: Octet.semicolon, keepingEmpty: true, upTo: elementLimit + 1) { part in
            if isPrincipal {
                isPrincipal = false
                return
            }
            var equals = part.lowerBound
            while equals < part.upperBound, bytes[equals] != Octet.equals { equals += 1 }
            let name = bytes.trimmed(part.lowerBound..<equals)
            guard !name.isEmpty else { return }
            guard equals < part.upperBound else { return body(bytes.text(name), "") }
            body(bytes.text(name), unquoted(bytes, bytes.trimmed((equals + 1)..<part.upperBound)))
        }
    }

    /// Returns the value of the first parameter of that name, compared case-insensitively.
    package static func parameter(_ name: String, of element: Range<Int>, in bytes: Span<UInt8>) -> String? {
        let name = name.lowercased()
        var found: String?
        forEachParameter(of: element, in: bytes) { candidate, value in
            if found == nil, candidate.lowercased() == name { found = value }
        }
        return found
    }

    /// Returns an element's weight in thousandths (the parameter `q`, RFC 9110 §12.4.2): 1000 without one, nil if it is
    /// malformed.
    package static func weight(of element: Range<Int>, in bytes: Span<UInt8>) -> Int? {
        guard let text = parameter("q", of: element, in: bytes) else { return 1_000 }
        let octets = Array(text.utf8)
        guard (1...5).contains(octets.count), octets[0] == UInt8(ascii: "0") || octets[0] == UInt8(ascii: "1")
        else { return nil }
        guard octets.count == 1 || octets[1] == UInt8(ascii: ".") else { return nil }
        var thousandths = octets[0] == UInt8(ascii: "1") ? 1_000 : 0
        var place = 100
        for octet in octets.dropFirst(2) {
            guard let digit = Octet.decimal(octet) else { return nil }
            thousandths += Int(digit) * place
            place /= 10
        }
        return thousandths <= 1_000 ? thousandths : nil
    }

    /// Returns `range` as text; without the quotes and quoted pairs if it is a quoted string.
    package static func unquoted(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        guard !range.isEmpty, bytes[range.lowerBound] == Octet.quote else { return bytes.text(range) }
        var octets: [UInt8] = []
        var index = range.lowerBound + 1
        while index < range.upperBound, bytes[index] != Octet.quote {
            if bytes[index] == Octet.backslash, index + 1 < range.upperBound { index += 1 }
            octets.append(bytes[index])
            index += 1
        }
        return octets.span.text(0..<octets.count)
    }

    /// Calls `body` with the parts of `range` between separators, without surrounding blanks, and for at most `limit` parts.
    /// Separators in quoted strings are ignored.
    private static func split(
        _ bytes: Span<UInt8>, _ range: Range<Int>, at separator: UInt8, keepingEmpty: Bool = false,
        upTo limit: Int = .max, _ body: (Range<Int>) -> Void
    ) {
        var remaining = limit
        var start = range.lowerBound
        var index = start
        var isQuoted = false
        while index < range.upperBound {
            let octet = bytes[index]
            if isQuoted {
                if octet == Octet.backslash { index += 1 }
                if octet == Octet.quote { isQuoted = false }
            } else if octet == Octet.quote {
                isQuoted = true
            } else if octet == separator {
                let part = bytes.trimmed(start..<index)
                if keepingEmpty || !part.isEmpty {
                    guard remaining > 0 else { return }
                    remaining -= 1
                    body(part)
                }
                start = index + 1
            }
            index += 1
        }
        let part = bytes.trimmed(start..<range.upperBound)
        if remaining > 0, keepingEmpty || !part.isEmpty { body(part) }
    }
}
