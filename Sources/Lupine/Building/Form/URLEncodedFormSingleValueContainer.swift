// SPDX-License-Identifier: MIT

/// Writes one value to its position in the tree of a form. Writing a second value throws.
struct URLEncodedFormSingleValueContainer: SingleValueEncodingContainer {
    private let encoder: URLEncodedFormTreeEncoder
    private var hasValue = false

    init(encoder: URLEncodedFormTreeEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws {
        // `markWritten` uses the value only in its error. `Int?` is an arbitrary type, which nil needs.
        try markWritten(Int?.none as Any)
        encoder.writeNil()
    }

    mutating func encode(_ value: Bool) throws { try write(value) }
    mutating func encode(_ value: String) throws { try write(value) }
    mutating func encode(_ value: Double) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: Float) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: Int) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: Int8) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: Int16) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: Int32) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: Int64) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: Int128) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: UInt) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: UInt8) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: UInt16) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: UInt32) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: UInt64) throws { try write(value, text: "\(value)") }
    mutating func encode(_ value: UInt128) throws { try write(value, text: "\(value)") }
    mutating func encode<T: Encodable>(_ value: T) throws { try write(value) }

    private mutating func write(_ value: some Encodable) throws {
        try markWritten(value)
        try encoder.write(value)
    }

    /// Writes the text of a number.
    private mutating func write(_ value: some Encodable, text: String) throws {
        try markWritten(value)
        encoder.write(text)
    }

    /// Records that the value is written. Throws if a value has been written already.
    private mutating func markWritten(_ value: Any) throws {
        guard !hasValue else {
            let context = EncodingError.Context(
                codingPath: codingPath, debugDescription: "a single-value container takes one value")
            throw EncodingError.invalidValue(value, context)
        }
        hasValue = true
    }
}
