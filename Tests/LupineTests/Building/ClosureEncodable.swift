// SPDX-License-Identifier: MIT

import Foundation

/// A value that a closure encodes.
struct ClosureEncodable: Encodable {
    let write: (any Encoder) throws -> Void

    init(_ write: @escaping (any Encoder) throws -> Void) { self.write = write }

    func encode(to encoder: any Encoder) throws { try write(encoder) }
}

/// A key with any text, with or without a number.
struct AnyKey: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int?

    init(_ text: String, _ number: Int? = nil) {
        stringValue = text
        intValue = number
    }

    init(stringLiteral text: String) { self.init(text) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init("\(intValue)", intValue) }
}
