// SPDX-License-Identifier: MIT

/// What the origin says that it was asked: `/get`, `/post`, `/anything` and their like.
struct Echo: Decodable, Sendable {
    let url: String
    let headers: [String: String]
    let args: [String: Values]
    let form: [String: Values]?
    let data: String?
    let method: String?
}

extension Echo {
    /// The values of one name: one is written as text, several as an array.
    struct Values: Decodable, Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        let all: [String]

        init(stringLiteral value: String) { all = [value] }

        init(arrayLiteral elements: String...) { all = elements }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                all = [one]
            } else {
                all = try container.decode([String].self)
            }
        }
    }
}
