// SPDX-License-Identifier: MIT

/// A JSON value to be written; objects keep their order.
package indirect enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(Int64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])
    /// A document that has been seen to be one, written as it is.
    case verbatim([UInt8])
}

extension JSON {
    /// A string, or null where there is none.
    static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}
