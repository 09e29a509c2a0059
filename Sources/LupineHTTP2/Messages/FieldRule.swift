// SPDX-License-Identifier: MIT

import LupineHTTP

/// The rules for the fields of an HTTP/2 message: RFC 9113 §8.2.
enum FieldRule {
    /// Throws unless a received field is valid: its name is in lower case, its value has no control characters and no blanks
    /// around it, and the field is not connection-specific. TE is connection-specific too, except with the value `trailers` in
    /// a request.
    static func validate(
        name: Span<UInt8>, value: Span<UInt8>, in section: PseudoFields.Section
    ) throws(MessageError) {
        guard FieldName.isName(name) else { throw .invalidName(Excerpt(name)) }
        // 0x41 is "A". The subtraction wraps, so that only A-Z give less than 26.
        for index in name.indices where name[index] &- 0x41 < 26 { throw .capitalInName(Excerpt(name)) }
        guard isValue(value) else { throw .invalidValue(name: Excerpt(name)) }
        if isConnectionField(name) { throw .connectionField(Excerpt(name)) }
        guard name.count == 2, name.isText("te") else { return }
        if section != .request { throw .connectionField(Excerpt(name)) }
        if !value.isText("trailers") { throw .invalidTE(Excerpt(value)) }
    }

    /// Returns whether a value is valid, for fields and pseudo-fields alike: it has no control characters and no blanks around
    /// it.
    static func isValue(_ value: Span<UInt8>) -> Bool {
        guard Fields.isValue(value) else { return false }
        return value.isEmpty || (!isBlank(value[0]) && !isBlank(value[value.count &- 1]))
    }

    /// Returns whether an octet is a space or a tab.
    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    /// Returns whether a name, in lower case, is that of a connection-specific field (§8.2.2).
    static func isConnectionField(_ name: Span<UInt8>) -> Bool {
        // Checks the length first: most names are then compared with no text at all.
        switch name.count {
        case 7: name.isText("upgrade")
        case 10: name.isText("connection") || name.isText("keep-alive")
        case 16: name.isText("proxy-connection")
        case 17: name.isText("transfer-encoding")
        default: false
        }
    }

    /// Returns the number in `content-length`; nil if the field is absent. Throws if a value is invalid or two values differ.
    static func contentLength(_ fields: Fields) throws(MessageError) -> Int64? {
        var previousLength: Int64?
        var next = fields.firstIndex(of: .contentLength)
        while let index = next {
            let length = try fields.withValue(at: index) { value throws(MessageError) in
                guard let length = number(value), previousLength == nil || previousLength == length else {
                    throw .invalidContentLength(Excerpt(value))
                }
                return length
            }
            previousLength = length
            next = fields.firstIndex(of: .contentLength, from: index &+ 1)
        }
        return previousLength
    }

    /// Parses decimal digits. Returns nil for anything else, and for a number that does not fit in 63 bits.
    static func number(_ digits: Span<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for index in digits.indices {
            // 0x30 is "0". The subtraction wraps, so that only digits give less than 10.
            let digit = digits[index] &- 0x30
            let (product, productOverflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflows) = product.addingReportingOverflow(Int64(digit))
            // The product and the sum are used only if this is a digit.
            guard digit < 10, !productOverflows, !sumOverflows else { return nil }
            number = sum
        }
        return number
    }
}
