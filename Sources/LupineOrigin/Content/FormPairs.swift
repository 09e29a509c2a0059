// SPDX-License-Identifier: MIT

/// Pairs as in a query or a form, in their order, names repeated or not.
package struct FormPairs: Sendable {
    /// Names and values, decoded.
    package private(set) var pairs: [(name: String, value: String)] = []

    /// Reads `a=1&b=2`; a name without `=` has an empty value.
    package init(_ text: String) {
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = Substring(part[..<equals])
            let value = equals == part.endIndex ? "" : Substring(part[part.index(after: equals)...])
            pairs.append(
                (
                    PercentCoding.decoded(name, plusIsBlank: true),
                    PercentCoding.decoded(value, plusIsBlank: true)
                ))
        }
    }

    /// So many are read of a body: each is an object in the answer.
    static let most = 10_000

    /// The same of a request's body, which is refused when it has very many.
    init(form body: [UInt8]) throws(Refusal) {
        guard body.count(where: { $0 == UInt8(ascii: "&") }) < Self.most else { throw Self.tooMany }
        self.init(String(decoding: body, as: UTF8.self))
    }

    private static var tooMany: Refusal { .badRequest("a form of more than \(most) fields") }

    /// No pairs.
    init() {}

    /// One more pair, if there are not very many yet.
    mutating func append(_ name: String, _ value: String) throws(Refusal) {
        guard pairs.count < Self.most else { throw Self.tooMany }
        pairs.append((name, value))
    }

    /// The first value of that name.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// An object of the pairs; a name that occurs more than once has an array.
    var json: JSON {
        var members: [(name: String, values: [JSON])] = []
        var places: [String: Int] = [:]
        for (name, value) in pairs {
            if let place = places[name] {
                members[place].values.append(.string(value))
            } else {
                places[name] = members.count
                members.append((name, [.string(value)]))
            }
        }
        return .object(members.map { ($0.name, $0.values.count == 1 ? $0.values[0] : .array($0.values)) })
    }
}
