// SPDX-License-Identifier: MIT

/// The header fields of a test's request or response, in order. A name may occur several times.
///
/// Names are case-insensitive. Can be written as a dictionary literal.
public struct TestHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The name, as written.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields.
    public var fields: [Field]

    /// Creates fields in this order.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Creates fields in the order of a dictionary literal.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0.0, $0.1) }
    }

    /// The value of the first field of that name. Setting it replaces all fields of the name; nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { fields.append(Field(name, newValue)) }
        }
    }

    /// Returns the values of all fields of that name, in order.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// Appends a field.
    public mutating func add(_ name: String, _ value: String) { fields.append(Field(name, value)) }
}
