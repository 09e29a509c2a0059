// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The header fields that a caller gave a request: in order, names compared in any mix of cases, values not judged.
///
/// `Fields` of the codec holds only what is legal on the wire. A request has to keep what it was given, so that the task
/// can say which field it refuses (U-1.4); the list is checked when the request is sent.
package struct HeaderList: Sendable {
    /// One field.
    package struct Field: Sendable, Hashable, Codable {
        /// The name as it goes out.
        package var name: String
        /// The value as it was given.
        package var value: String

        /// A field of that name and value.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Whether both are the same octets: a value may be one that a peer has chosen, such as a `Last-Event-ID`.
        package static func == (left: Field, right: Field) -> Bool {
            left.value.hasSameOctets(as: right.value) && left.name.hasSameOctets(as: right.name)
        }

        /// Goes with `==`.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(PeerText(name))
            hasher.combine(PeerText(value))
        }
    }

    /// The fields, in the order in which they were first set.
    package private(set) var fields: [Field] = []

    /// No fields.
    package init() {}

    /// These fields, as they are.
    package init(_ fields: [Field]) { self.fields = fields }

    /// Whether there is no field.
    package var isEmpty: Bool { fields.isEmpty }

    /// The value of the first field of that name, in any mix of cases.
    package subscript(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }?.value
    }

    /// Gives the field of that name this value and the canonical name; nil removes it.
    package mutating func set(_ name: String, _ value: String?) {
        guard let value else { return fields.removeAll { Self.isSame($0.name, name) } }
        let field = Field(name: Self.canonical(name), value: value)
        guard let index = fields.firstIndex(where: { Self.isSame($0.name, name) }) else {
            return fields.append(field)
        }
        fields[index] = field
        removeLater(name, than: index)
    }

    /// Extends the field of that name by a comma and this value, or sets it.
    package mutating func add(_ name: String, _ value: String) {
        guard let index = fields.firstIndex(where: { Self.isSame($0.name, name) }) else {
            return fields.append(Field(name: Self.canonical(name), value: value))
        }
        fields[index] = Field(name: Self.canonical(name), value: fields[index].value + "," + value)
    }

    /// The fields by name; nil when there are none.
    package var dictionary: [String: String]? {
        if fields.isEmpty { return nil }
        return Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Takes the names and values of `dictionary` as they are. A field that stays keeps its place; those that come
    /// follow in the order of their names, so that the same dictionary always makes the same request.
    package mutating func assign(_ dictionary: [String: String]?) {
        var rest = dictionary ?? [:]
        var kept: [Field] = []
        for field in fields {
            guard let value = rest.removeValue(forKey: field.name) else { continue }
            kept.append(Field(name: field.name, value: value))
        }
        for (name, value) in rest.sorted(by: { $0.key < $1.key }) {
            kept.append(Field(name: name, value: value))
        }
        fields = kept
    }

    private mutating func removeLater(_ name: String, than index: Int) {
        guard fields.count > index + 1 else { return }
        let tail = fields[(index + 1)...].filter { !Self.isSame($0.name, name) }
        if tail.count < fields.count - index - 1 { fields.replaceSubrange((index + 1)..., with: tail) }
    }

    /// Whether two names are the same in any mix of cases. Field names are ASCII; what is not ASCII is compared as it is.
    package static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.utf8, right.utf8)
        return left.count == right.count
            && left.elementsEqual(right) { $0 == $1 || lowercased($0) == lowercased($1) }
    }

    /// The name with each word between dashes capitalised: `content-TYPE` is `Content-Type`.
    package static func canonical(_ name: String) -> String {
        var startsWord = true
        let octets = name.utf8.map { octet in
            defer { startsWord = octet == 0x2D }
            if startsWord { return 0x61...0x7A ~= octet ? octet - 0x20 : octet }
            return lowercased(octet)
        }
        return octets.elementsEqual(name.utf8) ? name : String(decoding: octets, as: UTF8.self)
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 {
        0x41...0x5A ~= octet ? octet + 0x20 : octet
    }
}
