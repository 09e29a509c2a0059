// SPDX-License-Identifier: MIT

/// The classes of octets in HTTP/1.1: those allowed in tokens (RFC 9110 §5.6.2), in field values (RFC 9110 §5.5) and in request
/// targets (RFC 3986 §2).
///
/// Each class has one bit. A table contains the bits of each octet, so that one look-up decides whether an octet belongs to a
/// class.
enum OctetClass {
    /// The bit of octets that are allowed in a token, such as a field name or a method.
    static let token: UInt8 = 1
    /// The bit of octets that are allowed in a field value or a reason phrase: visible ASCII, space, tab, and obs-text (0x80 to
    /// 0xFF).
    static let value: UInt8 = 2
    /// The bit of octets that are allowed in a request target: visible ASCII.
    static let target: UInt8 = 4

    /// Whether `octet` belongs to the class whose bit is `bit`.
    @inline(__always)
    static func contains(_ octet: UInt8, _ bit: UInt8) -> Bool { classBits[Int(octet)] & bit != 0 }

    /// The sum of the bits of each octet's classes, such as 7 for an octet that belongs to all three.
    private static let classBits: InlineArray<256, UInt8> = [
        // 00-1F: controls; only the tab is allowed in a value.
        0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        // SP ! " # $ % & ' ( ) * + , - . /
        2, 7, 6, 7, 7, 7, 7, 7, 6, 6, 7, 7, 6, 7, 7, 6,
        // 0-9 : ; < = > ?
        7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 6,
        // @ A-O
        6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        // P-Z [ \ ] ^ _
        7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 6, 7, 7,
        // ` a-o
        7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        // p-z { | } ~ DEL
        7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 7, 6, 7, 0,
        // 80-FF: obs-text.
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    ]
}

/// The octets that have a meaning in the grammar of HTTP, and functions for octets of digits and letters.
package enum Octet {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let comma: UInt8 = 0x2C
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D
    static let backslash: UInt8 = 0x5C

    /// Whether an octet is a space or tab: OWS, RFC 9110 §5.6.3.
    @inline(__always)
    static func isBlank(_ octet: UInt8) -> Bool { octet == space || octet == tab }

    /// Returns the value of a decimal digit; nil for anything else.
    @inline(__always)
    static func decimal(_ octet: UInt8) -> UInt8? {
        // 0x30 is "0". Octets below it wrap around to large numbers.
        let digit = octet &- 0x30
        return digit < 10 ? digit : nil
    }

    /// Returns the value of a hexadecimal digit; nil for anything else.
    @inline(__always)
    package static func hexadecimal(_ octet: UInt8) -> UInt8? {
        let digit = octet &- 0x30
        if digit < 10 { return digit }
        // 0x20 makes a letter lower-case; 0x61 is "a".
        let letter = (octet | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    /// Returns the lower-case letter for an ASCII capital, and any other octet unchanged.
    @inline(__always)
    static func lowercased(_ octet: UInt8) -> UInt8 {
        // 0x41 is "A". Octets below it wrap around to large numbers.
        octet &- 0x41 < 26 ? octet | 0x20 : octet
    }
}
