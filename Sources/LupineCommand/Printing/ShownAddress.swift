// SPDX-License-Identifier: MIT

internal import Foundation

/// Makes addresses printable: removes query, fragment, user name and password, which may be secrets.
///
/// The code compares Unicode scalars and not characters, since an `@` and a combining mark together are another character.
enum ShownAddress {
    /// Returns a URL without the parts that may be secrets.
    static func text(_ url: URL) -> String { text(url.absoluteString) }

    /// Returns an address as typed, which may be invalid, without the parts that may be secrets.
    static func text(_ address: String) -> String {
        let scalars = address.unicodeScalars
        let authorityStart = schemeEnd(of: address)?.upperBound ?? scalars.startIndex
        let pathEnd = scalars[authorityStart...].firstIndex { $0 == "?" || $0 == "#" } ?? scalars.endIndex
        let authorityEnd = scalars[authorityStart..<pathEnd].firstIndex(of: "/") ?? pathEnd
        guard let at = scalars[authorityStart..<authorityEnd].lastIndex(of: "@") else {
            return String(scalars[..<pathEnd])
        }
        return String(scalars[..<authorityStart]) + String(scalars[scalars.index(after: at)..<pathEnd])
    }

    /// Returns the range of the `://` that ends the scheme of an address; nil if the address has no scheme. If `@`, `/`, `?` or
    /// `#` precedes the first `://`, the `://` is part of a user name, path, query or fragment.
    static func schemeEnd(of address: String) -> Range<String.Index>? {
        guard let end = address.range(of: "://", options: .literal) else { return nil }
        let isScheme = !address.unicodeScalars[..<end.lowerBound].contains {
            "@/?#".unicodeScalars.contains($0)
        }
        return isScheme ? end : nil
    }
}
