// SPDX-License-Identifier: MIT

/// The name-value pairs of a query or form, in order; names may repeat.
package struct FormPairs: Sendable {
    /// The decoded names and values.
    package private(set) var pairs: [(name: String, value: String)] = []

    /// Parses text such as `a=1&b=2`. A name without `=` has an empty value.
    package init(_ text: String) {
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Substring(pair[..<equals])
            let value = equals == pair.endIndex ? "" : Substring(pair[pair.index(after: equals)...])
            pairs.append(
                (
                    PercentCoding.decoded(name, plusIsSpace: true),
                    PercentCoding.decoded(value, plusIsSpace: true)
                ))
        }
    }

    /// The maximum number of pairs in a body. It bounds the memory of the response, in which each pair becomes a JSON value.
    static let maximumCount = 10_000

    /// Parses the pairs of a request's body. Refuses more than `maximumCount` pairs.
    init(form body: [UInt8]) throws(Refusal) {
        // The number of pairs is at most one more than the number of separators.
        let separatorCount = body.count(where: { $0 == UInt8(ascii: "&") })
        guard separatorCount < Self.maximumCount else { throw Self.tooManyPairs }
        self.init(String(decoding: body, as: UTF8.self))
    }

    private static var tooManyPairs: Refusal { .badRequest("a form of more than \(maximumCount) fields") }

    /// Creates an empty list.
    init() {}

    /// Appends a pair. Refuses the pair if the list already has `maximumCount` pairs.
    mutating func append(_ name: String, _ value: String) throws(Refusal) {
        guard pairs.count < Self.maximumCount else { throw Self.tooManyPairs }
        pairs.append((name, value))
    }

    /// The value of the first pair with this name; nil if there is none.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The pairs as a JSON object; a name that occurs more than once has an array of values.
    var json: JSON {
        var members: [(name: String, values: [JSON])] = []
        // The index in `members` of each name.
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
