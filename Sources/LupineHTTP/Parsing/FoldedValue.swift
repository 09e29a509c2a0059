// SPDX-License-Identifier: MIT

/// Unfolds field values that continue over several lines, as old servers send them: obsolete line folding, RFC 9112 §5.2.
enum FoldedValue {
    /// Appends the unfolded value of `entry` to the octets, and changes the entry to refer to it. In the new value each fold,
    /// with the blanks around it, becomes one space.
    static func unfold(_ entry: inout Fields.Entry, in octets: inout [UInt8]) {
        var value: [UInt8] = []
        // Whether a fold, and which blanks, have been found since the last octet of `value`.
        var isFold = false
        var blanks: [UInt8] = []
        for octet in octets[entry.value] {
            switch octet {
            case Octet.carriageReturn, Octet.lineFeed: isFold = true
            case Octet.space, Octet.tab: blanks.append(octet)
            default:
                // Folds and blanks before the first octet do not belong to the value.
                if !value.isEmpty { value += isFold ? [Octet.space] : blanks }
                isFold = false
                blanks.removeAll(keepingCapacity: true)
                value.append(octet)
            }
        }
        entry.valueStart = UInt32(truncatingIfNeeded: octets.count)
        entry.valueCount = UInt32(truncatingIfNeeded: value.count)
        octets += value
    }
}
