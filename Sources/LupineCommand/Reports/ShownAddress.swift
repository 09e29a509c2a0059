// SPDX-License-Identifier: MIT

internal import Foundation

/// An address as it may be told: without query, fragment, name and password, which may be secrets. Scalars are looked at, since a
/// mark may combine with any.
enum ShownAddress {
    static func text(_ url: URL) -> String { text(url.absoluteString) }

    /// The same of one that was typed, and need be none.
    static func text(_ address: String) -> String {
        let scalars = address.unicodeScalars
        let start = address.range(of: "://", options: .literal)?.upperBound ?? scalars.startIndex
        let end = scalars[start...].firstIndex { $0 == "?" || $0 == "#" } ?? scalars.endIndex
        let slash = scalars[start..<end].firstIndex(of: "/") ?? end
        guard let at = scalars[start..<slash].lastIndex(of: "@") else { return String(scalars[..<end]) }
        return String(scalars[..<start]) + String(scalars[scalars.index(after: at)..<end])
    }
}
