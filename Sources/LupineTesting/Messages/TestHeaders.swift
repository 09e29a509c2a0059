// SPDX-License-Identifier: MIT

/// The header fields of a test's request or response, in their order; a name may stand there several times.
///
/// Names are compared in any mix of cases. A value; written as a dictionary where no name repeats.
public struct TestHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// The name, as it was given.
        public var name: String
        /// The value.
        public var value: String

        /// A field of its two parts.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields.
    public var fields: [Field]

    /// Fields in this order.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Fields from a dictionary literal, in its order.
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

    /// The values of all fields of that name, in their order.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// Adds a field behind those that are there.
    public mutating func add(_ name: String, _ value: String) { fields.append(Field(name, value)) }
}
