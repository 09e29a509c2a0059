// SPDX-License-Identifier: MIT

public import Foundation

/// Writes an `Encodable` value as a URL-encoded form: `key=value` pairs, joined by `&`, for queries and
/// `application/x-www-form-urlencoded` bodies.
///
/// There is no standard for nested values in forms; the options define how they are written. The root value must be a keyed
/// container. Can be used on any thread, as long as nothing changes `allowedCharacters` at the same time.
public final class URLEncodedFormEncoder {
    /// Whether the pairs are sorted by their text, at every level and also within arrays. Dictionaries are unordered, so without
    /// sorting the same value may be written in several ways.
    public let alphabetizeKeyValuePairs: Bool
    /// Defines how keys of an array's elements are formed.
    public let arrayEncoding: ArrayEncoding
    /// Defines how Booleans are written.
    public let boolEncoding: BoolEncoding
    /// Defines how `Data` is written.
    public let dataEncoding: DataEncoding
    /// Defines how dates are written.
    public let dateEncoding: DateEncoding
    /// Defines how the encoder changes a key before it is escaped.
    public let keyEncoding: KeyEncoding
    /// Defines how the keys of nested values are formed.
    public let keyPathEncoding: KeyPathEncoding
    /// Defines how nil is written.
    public let nilEncoding: NilEncoding
    /// Defines how a space is written.
    public let spaceEncoding: SpaceEncoding
    /// The characters that are not percent-encoded. Non-ASCII characters in the set are ignored.
    public var allowedCharacters: CharacterSet {
        didSet { escaping = Self.escaping(allowedCharacters, spaceEncoding) }
    }

    /// Escapes keys and values as `allowedCharacters` and `spaceEncoding` define.
    private(set) var escaping: PercentEscaping

    /// Creates an encoder with these options.
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

    /// Returns the form as text. Throws `Error.invalidRootObject` when the value is not a keyed container, and any error of
    /// the value or of a closure in the options.
    public func encode(_ value: any Encodable) throws -> String {
        let tree = URLEncodedFormTree()
        try value.encode(to: URLEncodedFormTreeEncoder(tree: tree, options: self, codingPath: []))
        return try URLEncodedFormSerializer(options: self).serialize(tree.root)
    }

    /// Returns the form as bytes. Throws the errors of the method that returns text.
    public func encode(_ value: any Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }

    /// Returns the escaping for these options.
    private static func escaping(_ allowed: CharacterSet, _ spaceEncoding: SpaceEncoding) -> PercentEscaping {
        switch spaceEncoding {
        case .percentEscaped: PercentEscaping(allowed: allowed)
        case .plusReplaced: PercentEscaping(allowed: allowed, writesPlusForSpace: true)
        }
    }
}

extension URLEncodedFormEncoder {
    /// The reason why a value cannot be encoded as a form.
    public enum Error: Swift.Error {
        /// The root value, described by the associated text, is not a keyed container.
        case invalidRootObject(String)
    }
}
