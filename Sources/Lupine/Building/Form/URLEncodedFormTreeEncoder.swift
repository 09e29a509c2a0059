// SPDX-License-Identifier: MIT

import Foundation

/// The encoder that is passed to a value's `encode(to:)`. Its coding path is the position in the tree of the form to which its
/// containers write.
///
/// Creating a container writes nothing. All encoders of one encoding share the tree, and are used on one thread.
struct URLEncodedFormTreeEncoder: Encoder {
    let tree: URLEncodedFormTree
    /// The encoder of the program, whose options apply.
    let options: URLEncodedFormEncoder
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(URLEncodedFormKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { URLEncodedFormUnkeyedContainer(encoder: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        URLEncodedFormSingleValueContainer(encoder: self)
    }

    /// Returns the encoder for the position under `key`.
    func nested(_ key: some CodingKey) -> URLEncodedFormTreeEncoder {
        URLEncodedFormTreeEncoder(tree: tree, options: options, codingPath: codingPath + [key])
    }

    /// Writes text to this position.
    func write(_ text: String) { tree.set(.string(text), at: codingPath) }

    /// Writes the text for nil. Returns false when nil is omitted.
    @discardableResult
    func writeNil() -> Bool {
        guard let text = options.nilEncoding.encodeNil() else { return false }
        write(text)
        return true
    }

    /// Writes a value of any type. Returns false when the value is nil and nil is omitted.
    @discardableResult
    func write(_ value: some Encodable) throws -> Bool {
        switch value as Any {
        case let text as String: write(text)
        case let flag as Bool: write(options.boolEncoding.encode(flag))
        case let date as Date:
            if let text = try options.dateEncoding.encode(date) {
                write(text)
            } else {
                try delegateEncoding(to: date)
            }
        case let data as Data:
            if let text = try options.dataEncoding.encode(data) {
                write(text)
            } else {
                try delegateEncoding(to: data)
            }
        case let decimal as Decimal: write(decimal.description)
        case let optional as any OptionalValue where optional.content == nil: return writeNil()
        case _: try delegateEncoding(to: value)
        }
        return true
    }

    /// Calls the value's own `encode(to:)`.
    private func delegateEncoding(to value: some Encodable) throws { try value.encode(to: self) }
}
