// SPDX-License-Identifier: MIT

/// Splits a PEM text into its blocks (RFC 7468); text between blocks is skipped.
///
/// Line ends are LF, CRLF or CR. A block is found by its BEGIN line and must have an END line; its content is decoded on demand,
/// so that blocks of other kinds may contain anything.
struct PEM {
    /// A block.
    struct Block {
        /// The label, such as `CERTIFICATE`.
        let label: String
        /// The whole block, including the BEGIN and END lines.
        let text: ArraySlice<UInt8>
        /// The lines between BEGIN and END.
        let body: ArraySlice<UInt8>

        /// Whether the block has RFC 1421 headers, like a traditional encrypted key.
        var hasHeaders: Bool { body.contains(UInt8(ascii: ":")) }

        /// Returns the decoded content.
        func bytes() throws(CertificateError) -> [UInt8] {
            guard let bytes = Base64.decode(lines: body) else {
                throw .malformed(.pem, reason: "\(label) is not in BASE64")
            }
            return bytes
        }
    }

    /// The largest text that is accepted; the bundles of Linux distributions have 200 KiB.
    static let largestSize = 16 << 20

    /// Returns the blocks of a text, in order.
    ///
    /// - Throws: `tooLarge`, or `malformed` for a block without an end.
    static func blocks(in text: [UInt8]) throws(CertificateError) -> [Block] {
        guard text.count <= largestSize else {
            throw .tooLarge(.pem, count: text.count, limit: largestSize)
        }
        var blocks: [Block] = []
        // The block whose END line has not been found yet, with the positions of its BEGIN line and of its body.
        var open: (label: ArraySlice<UInt8>, start: Int, body: Int)?
        var lines = PEMLines(text)
        while let (lineStart, line) = lines.nextWithDash() {
            if let label = label(of: line, after: begin) {
                if let open { throw missingEnd(open.label, number: blocks.count + 1) }
                open = (label, lineStart, line.endIndex)
            } else if let started = open, let label = label(of: line, after: end) {
                guard label == started.label else {
                    throw missingEnd(started.label, number: blocks.count + 1)
                }
                blocks.append(
                    Block(
                        label: String(decoding: label, as: UTF8.self),
                        text: text[started.start..<line.endIndex],
                        body: text[started.body..<lineStart]))
                open = nil
            }
        }
        if let open { throw missingEnd(open.label, number: blocks.count + 1) }
        return blocks
    }

    /// Whether the text contains a block. False for a single DER element: a certificate in DER may contain a BEGIN line, by
    /// chance or by intent.
    static func containsBlock(_ text: [UInt8]) -> Bool {
        var whole = DERReader(text[...])
        if whole.next(DERReader.sequence) != nil, whole.isAtEnd { return false }
        var lines = PEMLines(text)
        while let (_, line) = lines.nextWithDash() {
            if line.starts(with: begin) { return true }
        }
        return false
    }

    /// The error of a block without an END line.
    private static func missingEnd(_ label: ArraySlice<UInt8>, number: Int) -> CertificateError {
        let name = String(decoding: label.prefix(64), as: UTF8.self)
        return .at(number: number, path: nil, .malformed(.pem, reason: "\(name) has no end"))
    }

    /// Returns the label of a BEGIN or END line; nil for other lines.
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

/// Iterates over the lines that may begin or end a block. Other lines, most of a bundle, are skipped octet by octet.
private struct PEMLines {
    private let text: [UInt8]
    /// The position at which the search for the next line continues. After a CR it may be at a LF, which is then an empty line.
    private var next = 0

    init(_ text: [UInt8]) { self.text = text }

    /// Returns the next line that begins with a dash, without trailing spaces, and its start.
    mutating func nextWithDash() -> (start: Int, line: ArraySlice<UInt8>)? {
        // A local copy: a span of the property would forbid assigning to `next`.
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
