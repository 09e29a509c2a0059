// SPDX-License-Identifier: MIT

/// An error in a header block (RFC 7541).
///
/// After a block that cannot be decoded, the two endpoints have different dynamic tables: the connection ends with
/// COMPRESSION_ERROR (RFC 9113 §4.3). When a list exceeds a limit, the decoder still reads the block to its end and updates its
/// table, so that only the stream fails and the connection can continue. `leavesTablesEqual` is true only for `limitExceeded`.
package enum HPACKError: Error, Hashable, Sendable {
    /// The block ends inside the representation of a field.
    case truncated
    /// An integer is larger than 2^31-1 or has more octets than such a number needs (§5.1).
    case integerOverflow
    /// An index is zero or beyond the end of both tables (§2.3.3).
    case invalidIndex(Int)
    /// A Huffman-coded string contains the code of EOS (§5.2).
    case endOfStringInText
    /// A Huffman-coded string ends in more than seven bits of padding (§5.2).
    case paddingTooLong
    /// The padding of a Huffman-coded string contains zeros (§5.2).
    case paddingNotOnes
    /// A size update follows a field (§4.2).
    case misplacedSizeUpdate
    /// A size update asks for more than SETTINGS_HEADER_TABLE_SIZE allows (§6.3).
    case sizeUpdateTooLarge(Int, allowed: Int)
    /// The table size was reduced, and the next block does not begin with an update to at most that size (§4.2).
    case missingSizeUpdate(allowed: Int)
    /// A limit was exceeded; `allowed` is its value.
    case limitExceeded(HPACKLimits.Limit, allowed: Int)

    /// Whether the decoder's table still matches that of the peer's encoder, so that the connection can continue.
    package var leavesTablesEqual: Bool {
        switch self {
        case .limitExceeded: true
        case .truncated, .integerOverflow, .invalidIndex, .endOfStringInText, .paddingTooLong,
            .paddingNotOnes,
            .misplacedSizeUpdate, .sizeUpdateTooLarge, .missingSizeUpdate:
            false
        }
    }
}

extension HPACKError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated: "a header block ends inside a field"
        case .integerOverflow: "an integer in a header block is too large"
        case .invalidIndex(let index): "a header block names entry \(index), which no table has"
        case .endOfStringInText: "a Huffman-coded string holds the end-of-string symbol"
        case .paddingTooLong: "a Huffman-coded string ends in more than seven bits of padding"
        case .paddingNotOnes: "the padding of a Huffman-coded string is not made of ones"
        case .misplacedSizeUpdate: "a table size update stands behind a field"
        case .sizeUpdateTooLarge(let size, let allowed):
            "a table size update asks for \(size) octets, \(allowed) are allowed"
        case .missingSizeUpdate(let allowed):
            "the dynamic table was reduced to \(allowed) octets, and the next header block does not say so"
        case .limitExceeded(let limit, let allowed): "\(limit) exceed the limit of \(allowed)"
        }
    }
}
