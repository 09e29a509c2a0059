// SPDX-License-Identifier: MIT

/// What can be wrong with a header block (RFC 7541).
///
/// A block that cannot be decoded leaves the two ends with different dynamic tables: the connection ends with
/// COMPRESSION_ERROR (RFC 9113 §4.3). A list over a limit is different: the decoder reads its block to the end and keeps
/// its table in order, so that only the message is refused; `keepsTable` tells the two apart.
package enum HPACKError: Error, Hashable, Sendable {
    /// The block ends inside a representation.
    case truncated
    /// An integer is larger than 2^31-1 or is written in more octets than such a number needs (§5.1).
    case integerOverflow
    /// An index is zero or names no entry of either table (§2.3.3).
    case invalidIndex(Int)
    /// A Huffman-coded string holds the code of EOS (§5.2).
    case endOfStringInText
    /// A Huffman-coded string ends in more than seven bits of padding (§5.2).
    case paddingTooLong
    /// The padding of a Huffman-coded string is not made of ones (§5.2).
    case paddingNotOnes
    /// A size update stands behind a field (§4.2).
    case misplacedSizeUpdate
    /// A size update asks for more than SETTINGS_HEADER_TABLE_SIZE allows (§6.3).
    case sizeUpdateTooLarge(Int, allowed: Int)
    /// The block after a reduction of the table does not begin with a size update to at most that size (§4.2).
    case missingSizeUpdate(allowed: Int)
    /// A limit was exceeded; the value is what it allows.
    case limitExceeded(HPACKLimits.Limit, allowed: Int)

    /// Whether the decoder's table still agrees with the peer's, so that the connection can go on.
    package var keepsTable: Bool {
        switch self {
        case .limitExceeded: true
        case .truncated, .integerOverflow, .invalidIndex, .endOfStringInText, .paddingTooLong,
            .paddingNotOnes,
            .misplacedSizeUpdate, .sizeUpdateTooLarge, .missingSizeUpdate:
            false
        }
    }
}

/// A sentence for each.
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
