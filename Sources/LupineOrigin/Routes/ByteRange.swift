// SPDX-License-Identifier: MIT

/// The part of a body of known length that a `Range` field requests (RFC 9110 section 14.2).
enum ByteRange: Hashable {
    /// The whole body: there is no range, or it is invalid or not supported.
    case whole
    /// These octets.
    case part(Range<Int64>)
    /// A range outside the body.
    case unsatisfiable

    /// Parses `bytes=0-9`, `bytes=10-` or `bytes=-5`. Several ranges are not supported.
    init(_ text: String?, length: Int64) {
        guard let text, text.lowercased().hasPrefix("bytes=") else {
            self = .whole
            return
        }
        let parts = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            self = .whole
            return
        }
        switch (Int64(parts[0]), Int64(parts[1])) {
        case (nil, let suffix?) where parts[0].isEmpty:
            self = suffix == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - suffix)..<length)
        case (let first?, let last):
            if let last, last < first {
                self = .whole
            } else if first >= length {
                self = .unsatisfiable
            } else {
                self = .part(first..<(min(last ?? .max, length - 1) + 1))
            }
        case (nil, _):
            self = .whole
        }
    }
}
