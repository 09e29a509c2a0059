// SPDX-License-Identifier: MIT

/// The largest header list accepted from a peer; a message with a larger one is refused.
///
/// A list costs its sender little: one octet can represent an entry of the dynamic table (RFC 7541 §7.3). The limits
/// therefore apply to the decoded list, by the sizes of §4.1. `HeaderBlockAssembler` limits the octets of a block.
package struct HPACKLimits: Hashable, Sendable {
    /// The number of octets of all names and values of a list, and 32 more for each field, as in SETTINGS_MAX_HEADER_LIST_SIZE.
    package var listOctets = 256 * 1024
    /// The number of fields in a list.
    package var fieldCount = 1_000
    /// The number of octets of one decoded name or value.
    package var stringOctets = 64 * 1024

    /// Creates the default limits, the same as for the head of an HTTP/1.1 message.
    package init() {}

    /// Identifies a limit in an error.
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
