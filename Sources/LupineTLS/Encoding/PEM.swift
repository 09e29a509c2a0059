// SPDX-License-Identifier: MIT

/// Splits a PEM text into its blocks (RFC 7468); text between blocks is skipped.
///
/// Line ends are LF, CRLF or CR. A block begins with its BEGIN line and must have an END line. Its content is decoded on demand,
/// so that blocks that the caller does not need may contain anything.
struct PEM {
    /// A block: a BEGIN line, the encoded content, an END line.
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

    /// The largest text that is accepted, in bytes; the bundles of Linux distributions have 200 KiB.
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
        var openBlock: (label: ArraySlice<UInt8>, start: Int, bodyStart: Int)?
        var lines = PEMLines(text)
        while let (lineStart, line) = lines.nextWithDash() {
            if let label = label(of: line, after: beginMarker) {
                // A block begins within another one.
                if let openBlock { throw missingEnd(openBlock.label, number: blocks.count + 1) }
                openBlock = (label, lineStart, line.endIndex)
            } else if let block = openBlock, let label = label(of: line, after: endMarker) {
                guard label == block.label else {
                    throw missingEnd(block.label, number: blocks.count + 1)
                }
                blocks.append(
                    Block(
                        label: String(decoding: label, as: UTF8.self),
                        text: text[block.start..<line.endIndex],
                        body: text[block.bodyStart..<lineStart]))
                openBlock = nil
            }
        }
        if let openBlock { throw missingEnd(openBlock.label, number: blocks.count + 1) }
        return blocks
    }

    /// Whether the text contains a block. False for a single DER element: a certificate in DER may contain a BEGIN line, by
    /// chance or by intent.
    static func containsBlock(_ text: [UInt8]) -> Bool {
        var reader = DERReader(text[...])
        let isSingleElement = reader.next(DERReader.sequence) != nil && reader.isAtEnd
        if isSingleElement { return false }
        var lines = PEMLines(text)
        while let (_, line) = lines.nextWithDash() {
            if line.starts(with: beginMarker) { return true }
        }
        return false
    }

    /// Returns the error of a block without an END line. The message shows at most 64 octets of the label.
    private static func missingEnd(_ label: ArraySlice<UInt8>, number: Int) -> CertificateError {
        let name = String(decoding: label.prefix(64), as: UTF8.self)
        return .at(number: number, path: nil, .malformed(.pem, reason: "\(name) has no end"))
    }

    /// Returns the label of a line that consists of `marker`, a label and dashes; nil for other lines.
    private static func label(of line: ArraySlice<UInt8>, after marker: [UInt8]) -> ArraySlice<UInt8>? {
        guard line.count >= marker.count + dashes.count, line.starts(with: marker),
            line.suffix(dashes.count).elementsEqual(dashes)
        else { return nil }
        return line.dropFirst(marker.count).dropLast(dashes.count)
    }

    private static let beginMarker = Array("-----BEGIN ".utf8)
    private static let endMarker = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
}

/// Iterates over the lines that begin with a dash, which may begin or end a block. Skips the other lines, most of a bundle,
/// without creating a slice for each.
private struct PEMLines {
    private let text: [UInt8]
    /// The position at which the search for the next line continues. In a CRLF, CR ends a line, and LF ends an empty line.
    private var position = 0

    init(_ text: [UInt8]) { self.text = text }

    /// Returns the next line that begins with a dash, without trailing spaces and tabs, and the position of its first octet.
    mutating func nextWithDash() -> (start: Int, line: ArraySlice<UInt8>)? {
        // A local copy: a span of the property would forbid assigning to `position`.
        let text = text
        let bytes = text.span
        var start = position
        while start < bytes.count {
            var end = start
            // 0x0A is LF, 0x0D is CR.
            while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
            if end > start, bytes[start] == UInt8(ascii: "-") {
                position = end + 1
                // 0x20 is a space, 0x09 a tab. The dash ends the loop at the latest.
                while bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
                return (start, text[start..<end])
            }
            start = end + 1
        }
        position = start
        return nil
    }
}
