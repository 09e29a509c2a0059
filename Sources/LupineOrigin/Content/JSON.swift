// SPDX-License-Identifier: MIT

/// A JSON value that `JSONWriter` writes. The members of objects are written in their order.
package indirect enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(Int64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])
    /// A validated document, which is written unchanged.
    case verbatim([UInt8])
}

extension JSON {
    /// Returns `text` as a JSON string, or null for nil.
    static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}
