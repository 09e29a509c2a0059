// SPDX-License-Identifier: MIT

public import Foundation

extension URLEncodedFormEncoder {
    /// Defines how the key of an array's element is formed.
    public enum ArrayEncoding {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`, `key[1]`
        case indexInBrackets
        /// Uses the result of a closure, which receives the array's whole key and the element's index.
        case custom((_ key: String, _ index: Int) -> String)

        /// Returns the key of the element at `index` of the array under `key`.
        func encode(_ key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encoding): encoding(key, index)
            }
        }
    }

    /// Defines how a Boolean is written.
    public enum BoolEncoding {
        /// `1` or `0`
        case numeric
        /// `true` or `false`
        case literal

        func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// Defines how `Data` is written.
    public enum DataEncoding {
        /// Lets `Data` encode itself, as an array of numbers.
        case deferredToData
        /// Writes Base64.
        case base64
        /// Writes the result of a closure.
        case custom((Data) throws -> String)

        /// Returns the text; nil if the value encodes itself.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encoding): try encoding(data)
            }
        }
    }

    /// Defines how a date is written.
    public enum DateEncoding {
        /// Lets `Date` encode itself, as seconds since 2001.
        case deferredToDate
        /// Writes seconds since 1970.
        case secondsSince1970
        /// Writes milliseconds since 1970.
        case millisecondsSince1970
        /// Writes the format of ISO 8601 and RFC 3339, in UTC and whole seconds.
        case iso8601
        /// Writes the result of a formatter.
        case formatted(DateFormatter)
        /// Writes the result of a closure.
        case custom((Date) throws -> String)

        /// Returns the text; nil if the value encodes itself.
        func encode(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: "\(date.timeIntervalSince1970)"
            case .millisecondsSince1970: "\(date.timeIntervalSince1970 * 1000)"
            case .iso8601: date.formatted(.iso8601)
            case .formatted(let formatter): formatter.string(from: date)
            case .custom(let encoding): try encoding(date)
            }
        }
    }

    /// Defines how the key of a nested value is formed: its own key, the subkey, is added to the key of the enclosing value.
    public struct KeyPathEncoding: Sendable {
        /// `key[sub]`
        public static let brackets = KeyPathEncoding { "[\($0)]" }
        /// `key.sub`
        public static let dots = KeyPathEncoding { ".\($0)" }

        private let encoding: @Sendable (_ subkey: String) -> String

        /// Creates an encoding with a closure. Its result for a subkey is appended to the enclosing key.
        public init(encoding: @escaping @Sendable (_ subkey: String) -> String) { self.encoding = encoding }

        /// Returns the text that is appended to the enclosing key.
        func encode(_ subkey: String) -> String { encoding(subkey) }
    }

    /// Defines how nil is written.
    public struct NilEncoding: Sendable {
        /// Omits the key.
        public static let dropKey = NilEncoding { nil }
        /// Writes an empty value: `key=`.
        public static let dropValue = NilEncoding { "" }
        /// Writes the word `null`.
        public static let null = NilEncoding { "null" }

        private let encoding: @Sendable () -> String?

        /// Creates an encoding with a closure that returns the text for nil; the key is omitted when it returns nil.
        public init(encoding: @escaping @Sendable () -> String?) { self.encoding = encoding }

        /// Returns the text for nil; nil if the key is omitted.
        func encodeNil() -> String? { encoding() }
    }

    /// Defines how a space is written, unless `allowedCharacters` contains it.
    public enum SpaceEncoding {
        /// `%20`
        case percentEscaped
        /// `+`
        case plusReplaced
    }
}
