// SPDX-License-Identifier: MIT

/// Parses field values that are lists, and elements with parameters: RFC 9110 §5.6.
///
/// The functions return ranges of the octets that they read, and make strings only of the requested parts. They accept any input:
/// a quoted string without a closing quote ends with the value.
package enum ListSyntax {
    /// The maximum number of parameters of an element that `forEachParameter` reads; it ignores the others. Callers for which an
    /// element costs more than reading its octets also pass this number to `forEachElement`, as its limit.
    package static let elementLimit = 256

    /// Calls `body` with the range of each element between commas, without surrounding blanks. Commas in quoted strings do not
    /// separate elements, and empty elements are skipped (RFC 9110 §5.6.1.2). Elements after the first `limit` are ignored.
    package static func forEachElement(
        in bytes: Span<UInt8>, upTo limit: Int = .max, _ body: (Range<Int>) -> Void
    ) {
        split(bytes, 0..<bytes.count, at: Octet.comma, upTo: limit, body)
    }

    /// Calls `body` with the range of each element, including empty ones: a value has one element more than it has commas outside
    /// of quoted strings.
    static func forEachElementOrEmpty(in bytes: Span<UInt8>, _ body: (Range<Int>) -> Void) {
        split(bytes, 0..<bytes.count, at: Octet.comma, keepingEmpty: true, body)
    }

    /// Whether a list contains the element `token`, compared case-insensitively. The caller passes `token` in lower case.
    package static func contains(_ token: String, in bytes: Span<UInt8>) -> Bool {
        var isFound = false
        forEachElement(in: bytes) { isFound = isFound || bytes.equals(lowercased: token, in: $0) }
        return isFound
    }

    /// Returns the range of an element without its parameters: that of `text/html` in `text/html; charset=utf-8`. A semicolon in
    /// a quoted string begins no parameter.
    package static func valueWithoutParameters(of element: Range<Int>, in bytes: Span<UInt8>) -> Range<Int> {
        var firstPart: Range<Int>?
        split(bytes, element, at: Octet.semicolon, keepingEmpty: true) { firstPart = firstPart ?? $0 }
        return firstPart ?? element
    }

    /// Calls `body` with the name and value of each parameter of an element, in order (RFC 9110 §5.6.6), for the first
    /// `elementLimit` of them. A value that is a quoted string is passed without its quotes and escapes. A parameter without `=`
    /// has an empty value.
    package static func forEachParameter(
        of element: Range<Int>, in bytes: Span<UInt8>, _ body: (_ name: String, _ value: String) -> Void
    ) {
        // The first part is the value before the parameters, so the limit is one higher.
        var isFirstPart = true
        split(bytes, element, at: Octet.semicolon, keepingEmpty: true, upTo: elementLimit + 1) { part in
            if isFirstPart {
                isFirstPart = false
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

    /// Returns the value of the first parameter of that name, compared case-insensitively, or nil.
    package static func parameter(_ name: String, of element: Range<Int>, in bytes: Span<UInt8>) -> String? {
        let name = name.lowercased()
        var firstValue: String?
        forEachParameter(of: element, in: bytes) { candidate, value in
            if firstValue == nil, candidate.lowercased() == name { firstValue = value }
        }
        return firstValue
    }

    /// Returns an element's weight, the parameter `q` (RFC 9110 §12.4.2), in thousandths. Returns 1000 if the parameter is
    /// absent, nil if it is malformed.
    package static func weight(of element: Range<Int>, in bytes: Span<UInt8>) -> Int? {
        guard let text = parameter("q", of: element, in: bytes) else { return 1_000 }
        let octets = Array(text.utf8)
        // "0" or "1", optionally a dot and up to three digits.
        guard (1...5).contains(octets.count), octets[0] == UInt8(ascii: "0") || octets[0] == UInt8(ascii: "1")
        else { return nil }
        guard octets.count == 1 || octets[1] == UInt8(ascii: ".") else { return nil }
        var thousandths = octets[0] == UInt8(ascii: "1") ? 1_000 : 0
        var digitUnit = 100
        for octet in octets.dropFirst(2) {
            guard let digit = Octet.decimal(octet) else { return nil }
            thousandths += Int(digit) * digitUnit
            digitUnit /= 10
        }
        return thousandths <= 1_000 ? thousandths : nil
    }

    /// Returns the octets in `range` as text; those of a quoted string without its quotes and the backslashes of escapes.
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

    /// Calls `body` with the parts of `range` between separators, without surrounding blanks, for at most `limit` parts. A
    /// separator in a quoted string does not separate. Empty parts are skipped unless `keepingEmpty` is true.
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
                // The octet after a backslash is quoted: it does not end the string.
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
