// SPDX-License-Identifier: MIT

/// The origin's description of a request: `/get`, `/post`, `/anything` and similar paths.
struct Echo: Decodable, Sendable {
    let url: String
    let headers: [String: String]
    let args: [String: Values]
    let form: [String: Values]?
    let data: String?
    let method: String?
}

extension Echo {
    /// The values of one name: a single value is encoded as a string, several as an array.
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
