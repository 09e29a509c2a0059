// SPDX-License-Identifier: MIT

/// The blocks of a PEM text (RFC 7468), with whatever stands between them passed over.
///
/// Line ends are LF, CRLF or CR. A block is found by its first line and must have its last; what is in it is decoded
/// when it is asked for, so that other kinds of block may hold anything.
struct PEM {
    /// What stands between BEGIN and END.
    struct Block {
        /// Such as `CERTIFICATE`.
        let label: String
        /// All of it, the first and the last line too.
        let text: ArraySlice<UInt8>
        /// The lines between those two.
        let lines: [ArraySlice<UInt8>]

        /// Whether the block has headers of RFC 1421, as an encrypted key of the old kind does.
        var hasHeaders: Bool { lines.contains { $0.contains(UInt8(ascii: ":")) } }

        /// The bytes of the block.
        func bytes() throws(CertificateError) -> [UInt8] {
            let digits = lines.joined().filter { $0 != 0x20 && $0 != 0x09 }
            guard let bytes = Base64.decode(digits) else {
                throw .malformed(.pem, reason: "\(label) is not in BASE64")
            }
            return bytes
        }
    }

    /// The largest text that is read; the bundles of the distributions have 200 KiB.
    static let largestSize = 16 << 20

    /// The blocks of a text, in its order.
    ///
    /// - Throws: `tooLarge`, or `malformed` for a block without an end.
    static func blocks(in text: [UInt8]) throws(CertificateError) -> [Block] {
        guard text.count <= largestSize else {
            throw .tooLarge(.pem, count: text.count, limit: largestSize)
        }
        var blocks: [Block] = []
        var open: (label: ArraySlice<UInt8>, start: Int, lines: [ArraySlice<UInt8>])?
        for line in text.split(omittingEmptySubsequences: true, whereSeparator: { $0 == 0x0A || $0 == 0x0D })
        {
            let line = withoutTrailingSpace(line)
            if let label = label(of: line, after: begin) {
                if let open { throw unended(open.label, number: blocks.count + 1) }
                open = (label, line.startIndex, [])
            } else if let started = open {
                if let label = label(of: line, after: end) {
                    guard label == started.label else {
                        throw unended(started.label, number: blocks.count + 1)
                    }
                    let name = String(decoding: label, as: UTF8.self)
                    blocks.append(
                        Block(label: name, text: text[started.start..<line.endIndex], lines: started.lines))
                    open = nil
                } else {
                    open?.lines.append(line)
                }
            }
        }
        if let open { throw unended(open.label, number: blocks.count + 1) }
        return blocks
    }

    /// Whether there is any block.
    static func isLikely(_ text: [UInt8]) -> Bool {
        text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { $0.starts(with: begin) }
    }

    private static func unended(_ label: ArraySlice<UInt8>, number: Int) -> CertificateError {
        let name = String(decoding: label.prefix(64), as: UTF8.self)
        return .at(number: number, path: nil, .malformed(.pem, reason: "\(name) has no end"))
    }

    private static func label(of line: ArraySlice<UInt8>, after beginning: [UInt8]) -> ArraySlice<UInt8>? {
        guard line.count >= beginning.count + dashes.count, line.starts(with: beginning),
            line.suffix(dashes.count).elementsEqual(dashes)
        else { return nil }
        return line.dropFirst(beginning.count).dropLast(dashes.count)
    }

    private static func withoutTrailingSpace(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last, last == 0x20 || last == 0x09 { line.removeLast() }
        return line
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
}
