// SPDX-License-Identifier: MIT

/// Decodes Huffman-coded strings, four bits per step: RFC 7541 §5.2.
///
/// A state is an inner node of the code's tree: 257 symbols make 256 inner nodes. For each node and each value of four bits,
/// the table holds the node that they lead to and the symbol that they complete. No code has fewer than five bits, so there
/// is at most one such symbol.
enum HuffmanDecoder {
    /// The flag of a step that completes a symbol, which is in bits 8-15. Bits 0-7 of each step are the next node.
    private static let hasSymbol: UInt32 = 1 << 16
    /// The flag of a step that completes the code of EOS.
    private static let isEndOfString: UInt32 = 1 << 17

    /// The validity of the padding of a string that ends at a node.
    private enum Ending: Sendable {
        case complete, notOnes, tooLong
    }

    private struct Tables: Sendable {
        var steps: [UInt32]
        var endings: [Ending]
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
        // The code of each symbol has at least five bits.
        output.append(addingCapacity: bytes.count &* 8 / 5) { output in
            for index in bytes.indices {
                let octet = Int(bytes[index])
                // The step of the octet's high four bits, then that of its low ones; each node has 16 steps.
                let high = steps[node &<< 4 | octet &>> 4]
                if high & hasSymbol != 0 { output.append(UInt8(truncatingIfNeeded: high &>> 8)) }
                let low = steps[Int(high & 0xFF) &<< 4 | octet & 0x0F]
                if low & hasSymbol != 0 { output.append(UInt8(truncatingIfNeeded: low &>> 8)) }
                if (high | low) & isEndOfString != 0 {
                    hasEndOfString = true
                    return
                }
                node = Int(low & 0xFF)
            }
        }
        if hasEndOfString { throw .endOfStringInText }
        switch tables.endings[node] {
        case .complete: return
        case .notOnes: throw .paddingNotOnes
        case .tooLong: throw .paddingTooLong
        }
    }

    // MARK: Tables

    /// The target of an edge from a node.
    private enum Edge {
        case none
        case node(Int)
        case symbol(Int)
    }

    private static func makeTables() -> Tables {
        let edges = makeTree()
        var steps: [UInt32] = []
        for node in edges.indices {
            for bits in 0..<16 { steps.append(step(from: node, bits, edges)) }
        }
        return Tables(steps: steps, endings: endings(edges))
    }

    /// Returns the code's tree: for each node, the edges for 0 and 1. Node 0 is the root.
    private static func makeTree() -> [[Edge]] {
        var edges: [[Edge]] = [[.none, .none]]
        for symbol in HuffmanCode.lengths.indices {
            let code = HuffmanCode.codes[symbol]
            var node = 0
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

    /// Returns the step from a node by four bits.
    private static func step(from start: Int, _ bits: Int, _ edges: [[Edge]]) -> UInt32 {
        var node = start
        var found: UInt32 = 0
        for position in [3, 2, 1, 0] {
            switch edges[node][bits >> position & 1] {
            case .node(let next): node = next
            case .symbol(HuffmanCode.endOfString): return isEndOfString
            case .symbol(let symbol):
                found = hasSymbol | UInt32(symbol) << 8
                node = 0
            // The code is complete: every path ends in a symbol.
            case .none: return isEndOfString
            }
        }
        return found | UInt32(node)
    }

    /// Returns the validity of the padding for a string that ends at each node. A string may end at the root, or after at most
    /// seven ones from it: padding consists of the first bits of EOS, which are ones.
    private static func endings(_ edges: [[Edge]]) -> [Ending] {
        var endings = [Ending](repeating: .notOnes, count: edges.count)
        var node = 0
        var ones = 0
        while true {
            endings[node] = ones <= 7 ? .complete : .tooLong
            guard case .node(let next) = edges[node][1] else { return endings }
            node = next
            ones += 1
        }
    }
}
