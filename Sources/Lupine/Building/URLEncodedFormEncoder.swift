// SPDX-License-Identifier: MIT

public import Foundation

/// Writes an `Encodable` value as a URL-encoded form: `key=value` pairs, joined by `&`, as queries and
/// `application/x-www-form-urlencoded` bodies have them.
///
/// There is no standard for nested values in forms; how they are written is for the options to choose. The value at the
/// root has to have keys. Used on any thread, by one at a time while somebody changes `allowedCharacters`.
public final class URLEncodedFormEncoder {
    /// Whether the pairs are sorted, at every level. Dictionaries have no order of their own, so without it the same value
    /// may be written in several ways. Elements of an array are sorted by their text as well.
    public let alphabetizeKeyValuePairs: Bool
    /// How keys of an array's elements are made.
    public let arrayEncoding: ArrayEncoding
    /// How Booleans are written.
    public let boolEncoding: BoolEncoding
    /// How `Data` is written.
    public let dataEncoding: DataEncoding
    /// How dates are written.
    public let dateEncoding: DateEncoding
    /// How a key is changed, once it is composed.
    public let keyEncoding: KeyEncoding
    /// How the keys of nested values are composed.
    public let keyPathEncoding: KeyPathEncoding
    /// How nil is written.
    public let nilEncoding: NilEncoding
    /// How a space is written.
    public let spaceEncoding: SpaceEncoding
    /// The characters that are not percent-encoded. Only those count that are ASCII.
    public var allowedCharacters: CharacterSet {
        didSet { escaping = Self.escaping(allowedCharacters, spaceEncoding) }
    }

    private(set) var escaping: PercentEscaping

    /// An encoder of these choices.
    public init(
        alphabetizeKeyValuePairs: Bool = true, arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric, dataEncoding: DataEncoding = .base64,
        dateEncoding: DateEncoding = .deferredToDate, keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets, nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped, allowedCharacters: CharacterSet = .afURLQueryAllowed
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
        self.allowedCharacters = allowedCharacters
        escaping = Self.escaping(allowedCharacters, spaceEncoding)
    }

    /// The form as text. Throws `Error.invalidRootObject` when the value is not one with keys, and what the value or a
    /// closure of the options throws.
    public func encode(_ value: any Encodable) throws -> String {
        let tree = URLEncodedFormTree()
        try value.encode(to: URLEncodedFormTreeEncoder(tree: tree, options: self, codingPath: []))
        return try URLEncodedFormSerializer(options: self).serialize(tree.root)
    }

    /// The form as bytes. Throws as the other `encode(_:)` does.
    public func encode(_ value: any Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }

    private static func escaping(_ allowed: CharacterSet, _ spaceEncoding: SpaceEncoding) -> PercentEscaping {
        switch spaceEncoding {
        case .percentEscaped: PercentEscaping(allowed: allowed)
        case .plusReplaced: PercentEscaping(allowed: allowed, plusForSpace: true)
        }
    }
}

extension URLEncodedFormEncoder {
    /// Why a value is no form.
    public enum Error: Swift.Error {
        /// The value at the root is none with keys, but that.
        case invalidRootObject(String)
    }
}
