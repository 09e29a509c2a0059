// SPDX-License-Identifier: MIT

/// A URI or relative reference split into its components (RFC 3986 §4.1, appendix B). Only the delimiters are checked.
///
/// `TransportURL` and the redirects of the loading system use it to parse and resolve. The components are slices of the given
/// bytes, so that an index in one is an offset in the text.
package struct URIReference {
    /// The text before the colon; nil for a relative reference.
    package let scheme: ArraySlice<UInt8>?
    /// The text after the two slashes; nil if there are none.
    package let authority: ArraySlice<UInt8>?
    /// The path; may be empty.
    package let path: ArraySlice<UInt8>
    /// The text after the question mark; nil if there is none.
    package let query: ArraySlice<UInt8>?
    /// The text after the `#`; nil if there is none.
    package let fragment: ArraySlice<UInt8>?

    /// Splits a text; any text can be split.
    package init(_ text: [UInt8]) {
        var rest = text[...]
        // The first of : / ? #
        if let end = rest.firstIndex(where: { $0 == 0x3A || $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }),
            rest[end] == UInt8(ascii: ":"), Self.isScheme(rest[..<end])
        {
            scheme = rest[..<end]
            rest = rest[(end + 1)...]
        } else {
            scheme = nil
        }
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[(hash + 1)...]
            rest = rest[..<hash]
        } else {
            fragment = nil
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        } else {
            query = nil
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[rest.startIndex..<end]
            path = rest[end...]
        } else {
            authority = nil
            path = rest
        }
    }

    /// Whether a text has the syntax of a scheme: ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) (§3.1).
    private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, (0x61...0x7A).contains(first | 0x20) else { return false }
        // The last three are + - .
        return text.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2B
                || byte == 0x2D
                || byte == 0x2E
        }
    }

    /// Merges a relative path with the path of a base that has an authority (§5.2.3).
    package static func merge(base: some Collection<UInt8>, reference: some Collection<UInt8>) -> [UInt8] {
        let kept = Array(base)
        guard let slash = kept.lastIndex(of: UInt8(ascii: "/")) else {
            return [UInt8(ascii: "/")] + reference
        }
        return Array(kept[...slash]) + reference
    }

    /// Returns the path without its "." and ".." segments (§5.2.4); ".." above the root is ignored.
    package static func removeDotSegments(_ path: some Collection<UInt8>) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        var output: [UInt8] = []
        output.reserveCapacity(path.count)
        var rest = Array(path)[...]
        while !rest.isEmpty {
            let isRooted = rest.first == slash
            let start = isRooted ? rest.startIndex + 1 : rest.startIndex
            let end = rest[start...].firstIndex(of: slash) ?? rest.endIndex
            let segment = rest[start..<end]
            let isLast = end == rest.endIndex
            if segment == [dot] {
                if isRooted, isLast { output.append(slash) }
                rest = isRooted || isLast ? rest[end...] : rest[(end + 1)...]
            } else if segment == [dot, dot] {
                if isRooted {
                    let cut = output.lastIndex(of: slash) ?? output.startIndex
                    output.removeSubrange(cut...)
                    if isLast { output.append(slash) }
                }
                rest = isRooted || isLast ? rest[end...] : rest[(end + 1)...]
            } else {
                output += rest[rest.startIndex..<end]
                rest = rest[end...]
            }
        }
        return output
    }
}
