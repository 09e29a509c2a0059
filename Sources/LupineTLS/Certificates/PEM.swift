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
        let body: ArraySlice<UInt8>

        /// Whether the block has headers of RFC 1421, as an encrypted key of the old kind does.
        var hasHeaders: Bool { body.contains(UInt8(ascii: ":")) }

        /// The bytes of the block.
        func bytes() throws(CertificateError) -> [UInt8] {
            guard let bytes = Base64.decode(lines: body) else {
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
        var open: (label: ArraySlice<UInt8>, start: Int, body: Int)?
        var lines = PEMLines(text)
        while let (number, line) = lines.nextWithDash() {
            if let label = label(of: line, after: begin) {
                if let open { throw unended(open.label, number: blocks.count + 1) }
                open = (label, number, line.endIndex)
            } else if let started = open, let label = label(of: line, after: end) {
                guard label == started.label else {
                    throw unended(started.label, number: blocks.count + 1)
                }
                blocks.append(
                    Block(
                        label: String(decoding: label, as: UTF8.self),
                        text: text[started.start..<line.endIndex],
                        body: text[started.body..<number]))
                open = nil
            }
        }
        if let open { throw unended(open.label, number: blocks.count + 1) }
        return blocks
    }

    /// Whether there is any block, and the text is more than one element of DER: that may have such lines in it by chance, or because
    /// somebody put them there.
    static func isLikely(_ text: [UInt8]) -> Bool {
        var whole = DERReader(text[...])
        if whole.next(DERReader.sequence) != nil, whole.isAtEnd { return false }
        var lines = PEMLines(text)
        while let (_, line) = lines.nextWithDash() {
            if line.starts(with: begin) { return true }
        }
        return false
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

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
}

/// The lines of a text that could begin or end a block: the others, most of a bundle, are stepped over octet by octet.
private struct PEMLines {
    private let text: [UInt8]
    private var next = 0

    init(_ text: [UInt8]) { self.text = text }

    /// The next line that begins with a dash, without the spaces at its end, and where it begins.
    mutating func nextWithDash() -> (start: Int, line: ArraySlice<UInt8>)? {
        let text = text
        let bytes = text.span
        var start = next
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
            if end > start, bytes[start] == UInt8(ascii: "-") {
                next = end + 1
                while bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
                return (start, text[start..<end])
            }
            start = end + 1
        }
        next = start
        return nil
    }
}
