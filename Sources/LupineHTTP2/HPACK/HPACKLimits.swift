// SPDX-License-Identifier: MIT

/// How much of a peer's header list is taken before its message is refused.
///
/// A list costs its sender little: one octet can stand for an entry of the dynamic table (RFC 7541 §7.3). The limits
/// therefore count what is decoded, by the sizes of §4.1; the octets of a block are limited where it is put together.
package struct HPACKLimits: Hashable, Sendable {
    /// Octets of all names and values of a list, and 32 more for each field, as SETTINGS_MAX_HEADER_LIST_SIZE counts.
    package var listOctets = 256 * 1024
    /// Fields of a list.
    package var fieldCount = 1_000
    /// Octets of one name or value, decoded.
    package var stringOctets = 64 * 1024

    /// The defaults, those of HTTP/1.1's heads; each is a property to change.
    package init() {}

    /// A limit's name.
    package enum Limit: Hashable, Sendable, CustomStringConvertible {
        case listOctets, fieldCount, stringOctets

        package var description: String {
            switch self {
            case .listOctets: "octets of a header list (listOctets)"
            case .fieldCount: "header fields (fieldCount)"
            case .stringOctets: "octets of a header name or value (stringOctets)"
            }
        }
    }
}
