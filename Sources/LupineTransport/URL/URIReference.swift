// SPDX-License-Identifier: MIT

/// A URI or relative reference, split into its components at the delimiters (RFC 3986 §4.1, appendix B). The bytes between the
/// delimiters are not checked.
///
/// `TransportURL` and the redirects of the loading system use it to parse and resolve references. The components are slices of
/// the given bytes, so that an index in one is an offset in the text.
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
        var remaining = text[...]
        // The first of : / ? # ends the scheme, if it is the colon.
        if let end = remaining.firstIndex(where: { $0 == 0x3A || $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }),
            remaining[end] == UInt8(ascii: ":"), Self.isScheme(remaining[..<end])
        {
            scheme = remaining[..<end]
            remaining = remaining[(end + 1)...]
        } else {
            scheme = nil
        }
        if let hash = remaining.firstIndex(of: UInt8(ascii: "#")) {
            fragment = remaining[(hash + 1)...]
            remaining = remaining[..<hash]
        } else {
            fragment = nil
        }
        if let questionMark = remaining.firstIndex(of: UInt8(ascii: "?")) {
            query = remaining[(questionMark + 1)...]
            remaining = remaining[..<questionMark]
        } else {
            query = nil
        }
        if remaining.starts(with: "//".utf8) {
            remaining = remaining.dropFirst(2)
            let end = remaining.firstIndex(of: UInt8(ascii: "/")) ?? remaining.endIndex
            authority = remaining[remaining.startIndex..<end]
            path = remaining[end...]
        } else {
            authority = nil
            path = remaining
        }
    }

    /// Creates a reference with these components, which are not checked.
    package init(
        scheme: ArraySlice<UInt8>? = nil, authority: ArraySlice<UInt8>? = nil, path: ArraySlice<UInt8>,
        query: ArraySlice<UInt8>? = nil, fragment: ArraySlice<UInt8>? = nil
    ) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// Resolves the reference against a base (§5.2.2, strict). The result has the fragment of the reference.
    package func resolved(against base: URIReference) -> URIReference {
        if scheme != nil || authority != nil {
            return URIReference(
                scheme: scheme ?? base.scheme, authority: authority, path: Self.removeDotSegments(path)[...],
                query: query, fragment: fragment)
        }
        if path.isEmpty {
            return URIReference(
                scheme: base.scheme, authority: base.authority, path: base.path, query: query ?? base.query,
                fragment: fragment)
        }
        let isRooted = path.first == UInt8(ascii: "/")
        let merged = isRooted ? Array(path) : Self.merge(base: base.path, reference: path)
        return URIReference(
            scheme: base.scheme, authority: base.authority, path: Self.removeDotSegments(merged)[...],
            query: query,
            fragment: fragment)
    }

    /// The text with these components (§5.3).
    package var text: String {
        var octets: [UInt8] = []
        if let scheme { octets += scheme + Array(":".utf8) }
        if let authority { octets += Array("//".utf8) + authority }
        octets += path
        if let query { octets += Array("?".utf8) + query }
        if let fragment { octets += Array("#".utf8) + fragment }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Returns whether a text has the syntax of a scheme: ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) (§3.1).
    private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
        // Setting the bit 0x20 makes upper-case letters lower-case, and makes no other byte a letter. 0x61...0x7A are a-z.
        guard let first = text.first, (0x61...0x7A).contains(first | 0x20) else { return false }
        // Letters, the digits 0-9, and + - .
        return text.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2B
                || byte == 0x2D
                || byte == 0x2E
        }
    }

    /// Merges a relative path with the path of a base that has an authority (§5.2.3).
    private static func merge(base: some Collection<UInt8>, reference: some Collection<UInt8>) -> [UInt8] {
        let basePath = Array(base)
        guard let slash = basePath.lastIndex(of: UInt8(ascii: "/")) else {
            return [UInt8(ascii: "/")] + reference
        }
        return Array(basePath[...slash]) + reference
    }

    /// Returns the path without its "." and ".." segments (§5.2.4); ".." above the root is ignored.
    package static func removeDotSegments(_ path: some Collection<UInt8>) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        var output: [UInt8] = []
        output.reserveCapacity(path.count)
        var remaining = Array(path)[...]
        // Each iteration moves one segment, with the slash before it, from `remaining` to `output`, or drops it.
        while !remaining.isEmpty {
            let isRooted = remaining.first == slash
            let start = isRooted ? remaining.startIndex + 1 : remaining.startIndex
            let end = remaining[start...].firstIndex(of: slash) ?? remaining.endIndex
            let segment = remaining[start..<end]
            let isLast = end == remaining.endIndex
            if segment == [dot] {
                // Drops the segment. At the end of the path, the slash before it stays. If there is none before it, the slash
                // after it is dropped too.
                if isRooted, isLast { output.append(slash) }
                remaining = isRooted || isLast ? remaining[end...] : remaining[(end + 1)...]
            } else if segment == [dot, dot] {
                if isRooted {
                    // Removes the last segment of the output, with the slash before it. At the end of the path, a slash stays.
                    let segmentStart = output.lastIndex(of: slash) ?? output.startIndex
                    output.removeSubrange(segmentStart...)
                    if isLast { output.append(slash) }
                }
                remaining = isRooted || isLast ? remaining[end...] : remaining[(end + 1)...]
            } else {
                output += remaining[remaining.startIndex..<end]
                remaining = remaining[end...]
            }
        }
        return output
    }
}
