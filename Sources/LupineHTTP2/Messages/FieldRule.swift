// SPDX-License-Identifier: MIT

import LupineHTTP

/// The rules for the fields of an HTTP/2 message: RFC 9113 §8.2.
enum FieldRule {
    /// Throws unless a received field is valid: its name is in lower case, its value has no control characters and no blanks
    /// around it, and it is not connection-specific. TE is connection-specific too, except with the value `trailers` in a
    /// request.
    static func validate(
        name: Span<UInt8>, value: Span<UInt8>, in section: PseudoFields.Section
    ) throws(MessageError) {
        guard FieldName.isName(name) else { throw .invalidName(Excerpt(name)) }
        // A-Z: any other octet gives 26 or more, because the subtraction wraps.
        for index in name.indices where name[index] &- 0x41 < 26 { throw .capitalInName(Excerpt(name)) }
        guard isValue(value) else { throw .invalidValue(name: Excerpt(name)) }
        if isConnectionField(name) { throw .connectionField(Excerpt(name)) }
        guard name.count == 2, name.isText("te") else { return }
        if section != .request { throw .connectionField(Excerpt(name)) }
        if !value.isText("trailers") { throw .invalidTE(Excerpt(value)) }
    }

    /// Returns whether a value is valid, for fields and pseudo-fields alike.
    static func isValue(_ value: Span<UInt8>) -> Bool {
        guard Fields.isValue(value) else { return false }
        return value.isEmpty || (!isBlank(value[0]) && !isBlank(value[value.count &- 1]))
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    /// Returns whether a name, in lower case, is that of a connection-specific field (§8.2.2).
    static func isConnectionField(_ name: Span<UInt8>) -> Bool {
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
        var knownLength: Int64?
        var next = fields.firstIndex(of: .contentLength)
        while let index = next {
            let length = try fields.withValue(at: index) { value throws(MessageError) in
                guard let length = number(value), knownLength == nil || knownLength == length else {
                    throw .invalidContentLength(Excerpt(value))
                }
                return length
            }
            knownLength = length
            next = fields.firstIndex(of: .contentLength, from: index &+ 1)
        }
        return knownLength
    }

    /// Parses a number that consists of digits only; nil if it does not, or if it overflows.
    static func number(_ digits: Span<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for index in digits.indices {
            // Above 9 for any other octet, because the subtraction wraps.
            let digit = digits[index] &- 0x30
            let (tens, tooMany) = number.multipliedReportingOverflow(by: 10)
            let (sum, tooMuch) = tens.addingReportingOverflow(Int64(digit))
            guard digit < 10, !tooMany, !tooMuch else { return nil }
            number = sum
        }
        return number
    }
}
