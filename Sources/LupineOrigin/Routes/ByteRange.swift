// SPDX-License-Identifier: MIT

/// The octets of a body that a `Range` field requests (RFC 9110 section 14.2). The length of the body is known.
enum ByteRange: Hashable {
    /// The whole body: there is no range, or the range is invalid or not supported.
    case whole
    /// These octets of the body.
    case part(Range<Int64>)
    /// A range outside the body.
    case unsatisfiable

    /// Parses the value of a `Range` field: `bytes=0-9`, `bytes=10-` or `bytes=-5`. Several ranges are not supported.
    init(_ text: String?, length: Int64) {
        let unit = "bytes="
        guard let text, text.lowercased().hasPrefix(unit) else {
            self = .whole
            return
        }
        let bounds = text.dropFirst(unit.count)
            .split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let isDigit: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy(isDigit) }) else {
            self = .whole
            return
        }
        switch (Int64(bounds[0]), Int64(bounds[1])) {
        // `bytes=-5`: the last five octets.
        case (nil, let suffixLength?) where bounds[0].isEmpty:
            let isUnsatisfiable = suffixLength == 0 || length == 0
            self = isUnsatisfiable ? .unsatisfiable : .part(max(0, length - suffixLength)..<length)
        case (let first?, let last):
            if let last, last < first {
                self = .whole
            } else if first >= length {
                self = .unsatisfiable
            } else {
                // The upper bound is limited before 1 is added, so that the addition does not overflow.
                self = .part(first..<(min(last ?? .max, length - 1) + 1))
            }
        // `bytes=-`, or a first position that does not fit into 64 bits.
        case (nil, _):
            self = .whole
        }
    }
}
