// SPDX-License-Identifier: MIT

extension Fields {
    /// Creates the list of the fields in these lines, which have the form of `lines` and are not trusted. Returns nil if an octet
    /// does not belong to a valid line.
    package init?(lines: ArraySlice<UInt8>) {
        var limits = ParserLimits()
        (limits.headBytes, limits.fieldCount, limits.lineBytes) = (.max, .max, .max)
        // A trailer section consists of such lines, and ends with an empty one.
        var parser = HeadParser(.trailers, limits: limits, leniency: .strict)
        var section: [UInt8] = []
        section.reserveCapacity(lines.count + 2)
        section.append(contentsOf: lines)
        section.append(Octet.carriageReturn)
        section.append(Octet.lineFeed)
        guard let end = try? parser.scan(section.span), end == section.count else { return nil }
        self = parser.extractHead(from: section.span).fields
    }
}
