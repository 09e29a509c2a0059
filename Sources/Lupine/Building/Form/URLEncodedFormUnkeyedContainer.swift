// SPDX-License-Identifier: MIT

/// Writes the elements of an array to the tree of a form. A nil that `NilEncoding` omits does not use up an index.
struct URLEncodedFormUnkeyedContainer: UnkeyedEncodingContainer {
    /// The coding key of an element: its index.
    private struct Index: CodingKey {
        let intValue: Int?
        var stringValue: String { intValue.map { "\($0)" } ?? "" }

        init(_ index: Int) { intValue = index }
        init?(intValue: Int) { self.init(intValue) }
        /// Returns nil, because an element has no name.
        init?(stringValue: String) { nil }
    }

    private let encoder: URLEncodedFormTreeEncoder
    private(set) var count = 0

    init(encoder: URLEncodedFormTreeEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() {
        if encoder.nested(Index(count)).writeNil() { count += 1 }
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        if try encoder.nested(Index(count)).write(value) { count += 1 }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nextElementEncoder().container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nextElementEncoder().unkeyedContainer()
    }

    /// Returns the array's own encoder: a superclass writes to the position of the array. The superclass counts as one element.
    mutating func superEncoder() -> any Encoder {
        count += 1
        return encoder
    }

    /// Returns the encoder of the next element, and advances the index.
    private mutating func nextElementEncoder() -> URLEncodedFormTreeEncoder {
        defer { count += 1 }
        return encoder.nested(Index(count))
    }
}
