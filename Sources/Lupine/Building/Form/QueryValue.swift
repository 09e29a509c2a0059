// SPDX-License-Identifier: MIT

import Foundation

/// A parameter's value, classified by its type for `URLEncoding`.
///
/// Whole numbers are written without `.0`, as on Apple's systems: there, Foundation bridges every number to `NSNumber`, whose
/// text has no `.0`. On Linux, this type recognizes numbers by their Swift types and removes the `.0`.
enum QueryValue {
    case object([String: Any])
    case array([Any])
    case bool(Bool)
    /// A number, a string, or the interpolated text of any other value.
    case text(String)

    init(_ value: Any) {
        let value = Self.unwrapped(value)
        // Numbers of Foundation come first, because `as? Bool` also converts an NSNumber of 1 to true.
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
            self = Self.number(number)
        } else if let text = value as? String {
            self = .text(text)
        } else if let flag = value as? Bool {
            self = .bool(flag)
        } else if let integer = value as? any BinaryInteger {
            self = .text(integer.description)
        } else if let number = value as? any BinaryFloatingPoint {
            self = .text(Self.withoutFraction("\(number)"))
        } else if let entries = value as? [String: Any] {
            self = .object(entries)
        } else if let elements = value as? [Any] {
            self = .array(elements)
        } else {
            self = .text("\(value)")
        }
    }

    /// Classifies a number of Foundation. A Boolean is recognized by its identity: Foundation has one object each for true and
    /// false, and creates other objects for the numbers 1 and 0.
    private static func number(_ number: NSNumber) -> QueryValue {
        if number === NSNumber(value: true) { return .bool(true) }
        if number === NSNumber(value: false) { return .bool(false) }
        return .text(withoutFraction(number.description))
    }

    /// Returns the text of a number without `.0` at its end.
    private static func withoutFraction(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns the value inside any number of optionals and `AnyHashable`s. A nil is returned unchanged.
    private static func unwrapped(_ value: Any) -> Any {
        var value = value
        while true {
            if type(of: value) == AnyHashable.self, let hashable = value as? AnyHashable {
                value = hashable.base
            } else if let optional = value as? any OptionalValue, let content = optional.content {
                value = content
            } else {
                return value
            }
        }
    }
}

/// An `Optional` of any type: a cast to this protocol recognizes optionals whose type is unknown.
protocol OptionalValue {
    /// The wrapped value.
    var content: Any? { get }
}

extension Optional: OptionalValue {
    var content: Any? { self }
}
