// SPDX-License-Identifier: MIT

/// Writes values under keys to the tree of a form. `NilEncoding` defines how nil is written. `encodeIfPresent` writes nil too,
/// while most encoders omit it.
struct URLEncodedFormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let encoder: URLEncodedFormTreeEncoder

    init(encoder: URLEncodedFormTreeEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { encoder.nested(key).writeNil() }
    func encode(_ value: Bool, forKey key: Key) throws { try encoder.nested(key).write(value) }
    func encode(_ value: String, forKey key: Key) { encoder.nested(key).write(value) }
    func encode(_ value: Double, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: Float, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: Int, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: Int8, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: Int16, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: Int32, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: Int64, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: Int128, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: UInt, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: UInt8, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: UInt16, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: UInt32, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: UInt64, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode(_ value: UInt128, forKey key: Key) { encoder.nested(key).write("\(value)") }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.nested(key).write(value) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try write(value, key) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.nested(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nested(key).unkeyedContainer()
    }

    /// Returns the same encoder: the keys of a superclass are written beside those of the class.
    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.nested(key) }

    private func write(_ value: (some Encodable)?, _ key: Key) throws {
        let nestedEncoder = encoder.nested(key)
        if let value { try nestedEncoder.write(value) } else { nestedEncoder.writeNil() }
    }
}
