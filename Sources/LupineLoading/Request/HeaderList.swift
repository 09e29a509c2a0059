// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The header fields that the program has set in a request: in order, with names compared without case, and not validated.
///
/// `Fields`, the type of the HTTP codec, accepts only valid names and values. A request stores invalid ones, too, so that its
/// task can fail with an error that names the field (U-1.4). The list is validated when the request is sent.
package struct HeaderList: Sendable {
    /// One field.
    package struct Field: Sendable, Hashable, Codable {
        /// The name as it is sent.
        package var name: String
        /// The value as the program has set it.
        package var value: String

        /// Creates a field.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Compares octets: a peer may have chosen the value, for example that of `Last-Event-ID`.
        package static func == (left: Field, right: Field) -> Bool {
            left.value.hasSameOctets(as: right.value) && left.name.hasSameOctets(as: right.name)
        }

        /// Hashes the octets of name and value, so that the hash is consistent with `==`.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(PeerText(name))
            hasher.combine(PeerText(value))
        }
    }

    /// The fields, in the order in which they were first set.
    package private(set) var fields: [Field] = []

    /// Creates an empty list.
    package init() {}

    /// Creates a list of these fields, unchanged.
    package init(_ fields: [Field]) { self.fields = fields }

    /// Whether there is no field.
    package var isEmpty: Bool { fields.isEmpty }

    /// The value of the first field with this name, compared without case.
    package subscript(name: String) -> String? { firstIndex(of: name).map { fields[$0].value } }

    /// Whether a field has one of these names, compared without case.
    package func contains(anyOf names: [String]) -> Bool { names.contains { firstIndex(of: $0) != nil } }

    /// Returns the index of the first field with this name.
    private func firstIndex(of name: String) -> Int? {
        // A span, because the iteration over the array would copy each field.
        let fields = fields.span
        return fields.indices.first { Self.isSame(fields[$0].name, name) }
    }

    /// Sets the value of a field and makes its name canonical; nil removes the field.
    package mutating func set(_ name: String, _ value: String?) {
        guard let value else { return fields.removeAll { Self.isSame($0.name, name) } }
        let field = Field(name: Self.canonical(name), value: value)
        guard let index = firstIndex(of: name) else {
            return fields.append(field)
        }
        fields[index] = field
        removeDuplicates(name, after: index)
    }

    /// Appends a comma and the value to the first field with this name; adds a field if there is none.
    package mutating func add(_ name: String, _ value: String) {
        guard let index = firstIndex(of: name) else {
            return fields.append(Field(name: Self.canonical(name), value: value))
        }
        fields[index] = Field(name: Self.canonical(name), value: fields[index].value + "," + value)
    }

    /// The values by name; nil if there are no fields. Of several fields with the same name, only the first is included.
    package var dictionary: [String: String]? {
        if fields.isEmpty { return nil }
        return Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sets the fields to those of `dictionary`, without changing their names. Existing fields keep their position; new fields
    /// follow in the order of their names, so that the same dictionary always leads to the same order.
    package mutating func assign(_ dictionary: [String: String]?) {
        var remaining = dictionary ?? [:]
        var newFields: [Field] = []
        for field in fields {
            guard let value = remaining.removeValue(forKey: field.name) else { continue }
            newFields.append(Field(name: field.name, value: value))
        }
        for (name, value) in remaining.sorted(by: { $0.key < $1.key }) {
            newFields.append(Field(name: name, value: value))
        }
        fields = newFields
    }

    /// Removes the fields with this name after `index`.
    private mutating func removeDuplicates(_ name: String, after index: Int) {
        guard fields.count > index + 1 else { return }
        let laterFields = fields[(index + 1)...]
        let otherFields = laterFields.filter { !Self.isSame($0.name, name) }
        if otherFields.count < laterFields.count {
            fields.replaceSubrange((index + 1)..., with: otherFields)
        }
    }

    /// Returns whether two names are equal without regard to the case of ASCII letters. Valid field names are ASCII; other
    /// characters are compared exactly.
    package static func isSame(_ left: String, _ right: String) -> Bool {
        // Most names that differ have different lengths, which are known without the octets.
        guard left.utf8.count == right.utf8.count else { return false }
        let leftOctets = left.utf8.span
        let rightOctets = right.utf8.span
        for index in leftOctets.indices where leftOctets[index] != rightOctets[index] {
            if lowercased(leftOctets[index]) != lowercased(rightOctets[index]) { return false }
        }
        return true
    }

    /// Returns the name with each word between dashes capitalized: `Content-Type` for `content-TYPE`.
    package static func canonical(_ name: String) -> String {
        // Whether the next octet is the first of a word.
        var startsWord = true
        let octets = name.utf8.map { octet in
            defer { startsWord = octet == UInt8(ascii: "-") }
            // 0x61...0x7A are the lowercase letters; the code of a capital is less by 0x20.
            if startsWord { return 0x61...0x7A ~= octet ? octet - 0x20 : octet }
            return lowercased(octet)
        }
        return octets.elementsEqual(name.utf8) ? name : String(decoding: octets, as: UTF8.self)
    }

    /// Returns the lowercase letter of an ASCII capital, 0x41...0x5A; any other octet unchanged.
    private static func lowercased(_ octet: UInt8) -> UInt8 {
        0x41...0x5A ~= octet ? octet + 0x20 : octet
    }
}
