// SPDX-License-Identifier: MIT

/// Decodes Huffman-coded strings, four bits per step: RFC 7541 §5.2.
///
/// The code is a binary tree: each bit leads from a node to the next, and each symbol is a leaf. 257 symbols make 256 inner
/// nodes, which have the numbers 0 to 255. A step starts at an inner node and reads four bits. A table has, for each node and
/// each value of four bits, the node at which the step ends and the symbol that it completes. After a symbol, a step continues at
/// the root. No code has fewer than five bits, so a step completes at most one symbol.
enum HuffmanDecoder {
    /// The flag of a step that completes a symbol. Bits 8-15 of the step are then the symbol. Bits 0-7 are always the next node.
    private static let symbolFlag: UInt32 = 1 << 16
    /// The flag of a step that completes the code of EOS.
    private static let endOfStringFlag: UInt32 = 1 << 17

    /// The validity of the padding of a string that ends at a node.
    private enum Padding: Sendable {
        case valid, notOnes, tooLong
    }

    private struct Tables: Sendable {
        /// For each node, the steps for the sixteen values of four bits.
        var steps: [UInt32]
        /// For each node, the padding of a string that ends there.
        var paddings: [Padding]
    }

    private static let tables = makeTables()

    /// Decodes `bytes` and appends the text to `output`.
    static func decode(_ bytes: Span<UInt8>, into output: inout [UInt8]) throws(HPACKError) {
        // Appending nothing to an empty array would write to the storage that all empty arrays share.
        if bytes.isEmpty { return }
        let tables = tables
        let steps = tables.steps.span
        var node = 0
        var hasEndOfString = false
        // The code of each symbol has at least five bits, which limits the number of symbols.
        output.append(addingCapacity: bytes.count &* 8 / 5) { output in
            for index in bytes.indices {
                let octet = Int(bytes[index])
                // The step of the octet's high four bits, then that of its low ones; each node has 16 steps.
                let high = steps[node &<< 4 | octet &>> 4]
                if high & symbolFlag != 0 { output.append(UInt8(truncatingIfNeeded: high &>> 8)) }
                let low = steps[Int(high & 0xFF) &<< 4 | octet & 0x0F]
                if low & symbolFlag != 0 { output.append(UInt8(truncatingIfNeeded: low &>> 8)) }
                if (high | low) & endOfStringFlag != 0 {
                    hasEndOfString = true
                    return
                }
                node = Int(low & 0xFF)
            }
        }
        if hasEndOfString { throw .endOfStringInText }
        switch tables.paddings[node] {
        case .valid: return
        case .notOnes: throw .paddingNotOnes
        case .tooLong: throw .paddingTooLong
        }
    }

    // MARK: Tables

    /// The target of the edge from a node for one bit.
    private enum Edge {
        /// The edge has not been added to the tree yet.
        case none
        case node(Int)
        case symbol(Int)
    }

    /// Makes the tables from the code's tree.
    private static func makeTables() -> Tables {
        let edges = makeTree()
        var steps: [UInt32] = []
        for node in edges.indices {
            for bits in 0..<16 { steps.append(step(from: node, bits, edges)) }
        }
        return Tables(steps: steps, paddings: paddings(edges))
    }

    /// Returns the code's tree: for each node, the edges for 0 and 1. Node 0 is the root.
    private static func makeTree() -> [[Edge]] {
        var edges: [[Edge]] = [[.none, .none]]
        for symbol in HuffmanCode.lengths.indices {
            let code = HuffmanCode.codes[symbol]
            var node = 0
            // From the highest bit of the code to the lowest, which leads to the symbol.
            for position in stride(from: Int(HuffmanCode.lengths[symbol]) - 1, through: 0, by: -1) {
                let bit = Int(code >> UInt32(position) & 1)
                if position == 0 {
                    edges[node][bit] = .symbol(symbol)
                } else if case .node(let next) = edges[node][bit] {
                    node = next
                } else {
                    edges.append([.none, .none])
                    edges[node][bit] = .node(edges.count - 1)
                    node = edges.count - 1
                }
            }
        }
        return edges
    }

    /// Returns the step from a node for the four bits of `bits`, of which the highest comes first.
    private static func step(from start: Int, _ bits: Int, _ edges: [[Edge]]) -> UInt32 {
        var node = start
        var symbolBits: UInt32 = 0
        for position in [3, 2, 1, 0] {
            switch edges[node][bits >> position & 1] {
            case .node(let next): node = next
            case .symbol(HuffmanCode.endOfString): return endOfStringFlag
            case .symbol(let symbol):
                symbolBits = symbolFlag | UInt32(symbol) << 8
                node = 0
            // Does not happen: both edges of each node lead on, because the code is complete.
            case .none: return endOfStringFlag
            }
        }
        return symbolBits | UInt32(node)
    }

    /// Returns, for each node, the padding of a string that ends there. A string may end at the root, or after at most seven ones
    /// from it: padding consists of the first bits of EOS, which are ones.
    private static func paddings(_ edges: [[Edge]]) -> [Padding] {
        var paddings = [Padding](repeating: .notOnes, count: edges.count)
        var node = 0
        var ones = 0
        while true {
            paddings[node] = ones <= 7 ? .valid : .tooLong
            guard case .node(let next) = edges[node][1] else { return paddings }
            node = next
            ones += 1
        }
    }
}
