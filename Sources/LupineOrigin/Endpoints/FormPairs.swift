// SPDX-License-Identifier: MIT

/// The name-value pairs of a query or form, in order; names may repeat.
package struct FormPairs: Sendable {
    /// The decoded names and values.
    package private(set) var pairs: [(name: String, value: String)] = []

    /// Reads `a=1&b=2`; a name without `=` has an empty value.
    package init(_ text: String) {
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = Substring(part[..<equals])
            let value = equals == part.endIndex ? "" : Substring(part[part.index(after: equals)...])
            pairs.append(
                (
                    PercentCoding.decoded(name, plusIsSpace: true),
                    PercentCoding.decoded(value, plusIsSpace: true)
                ))
        }
    }

    /// The maximum number of pairs in a body, because each becomes an object in the response.
    static let maximumCount = 10_000

    /// Reads the pairs of a request's body. Refuses more than `maximumCount`.
    init(form body: [UInt8]) throws(Refusal) {
        guard body.count(where: { $0 == UInt8(ascii: "&") }) < Self.maximumCount else { throw Self.tooMany }
        self.init(String(decoding: body, as: UTF8.self))
    }

    private static var tooMany: Refusal { .badRequest("a form of more than \(maximumCount) fields") }

    /// Creates an empty list.
    init() {}

    /// Appends a pair. Refuses it if there are `maximumCount` pairs.
    mutating func append(_ name: String, _ value: String) throws(Refusal) {
        guard pairs.count < Self.maximumCount else { throw Self.tooMany }
        pairs.append((name, value))
    }

    /// The first value with a name.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The pairs as a JSON object; a name that occurs more than once has an array of values.
    var json: JSON {
        var members: [(name: String, values: [JSON])] = []
        var memberIndexes: [String: Int] = [:]
        for (name, value) in pairs {
            if let index = memberIndexes[name] {
                members[index].values.append(.string(value))
            } else {
                memberIndexes[name] = members.count
                members.append((name, [.string(value)]))
            }
        }
        return .object(members.map { ($0.name, $0.values.count == 1 ? $0.values[0] : .array($0.values)) })
    }
}
