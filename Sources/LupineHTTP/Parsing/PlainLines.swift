// SPDX-License-Identifier: MIT

/// The fast path through a head: parses plain lines, as nearly all lines are, and leaves the others to `HeadParser`.
///
/// A plain field line is a name, a colon, one space, a value that is not empty, and CRLF. The scan stops at the beginning of any
/// other line, such as an invalid, a tolerated or an incomplete one, and `HeadParser` reads that line with all checks. The fast
/// path throws no errors. For each line that it accepts, `HeadParser` would return the same result.
enum PlainLines {
    /// The length of the line that `beginsWithOK` looks for, without its line end.
    static let okCount = 15

    /// Whether the octets begin with the status line of nearly all responses: `HTTP/1.1 200 OK`, CRLF.
    @inline(__always)
    static func beginsWithOK(_ bytes: Span<UInt8>) -> Bool {
        // The two words are "HTTP/1.1" and " 200 OK" with the CR, the first octet in the lowest byte.
        bytes.count > 16 && OctetScan.paddedWord(bytes, at: 0) == 0x312E_312F_5054_5448
            && OctetScan.paddedWord(bytes, at: 8) == 0x0D4B_4F20_3030_3220 && bytes[16] == Octet.lineFeed
    }

    /// Parses plain field lines from `lineStart` on, up to the capacity of `entries`, of which the first `fieldCount` are in use.
    /// `lineBytes` is the maximum length of a line. Afterwards `lineStart` is the beginning of the first line that was not
    /// parsed. Returns true if the empty line, which ends the head, was found; `lineStart` is then after it.
    static func parse(
        _ bytes: Span<UInt8>, _ lineBytes: Int, from lineStart: inout Int,
        into entries: inout MutableSpan<Fields.Entry>, _ fieldCount: inout Int,
        _ framingPositions: inout FramingFieldPositions
    ) -> Bool {
        // The offsets have 32 bits, as in the entries. Converted to `Int`, they cannot overflow when a small number is added, so
        // that the compiler needs one comparison to check eight octets.
        var start = UInt32(truncatingIfNeeded: lineStart)
        let maximumLineLength = UInt32(clamping: lineBytes)
        var newFieldCount = fieldCount
        var table = entries._mutatingExtracting(first: entries.count)
        defer {
            lineStart = Int(start)
            fieldCount = newFieldCount
        }
        while newFieldCount < table.count {
            // Scans words for the end of the name and, from the same word on, for the end of the value, in which the octets of a
            // name are also allowed. The position of a word therefore never depends on the end of the name, and the processor
            // can load the next word before it has found that end. The zeros after the last octet end the scan.
            var wordStart = start
            var word = OctetScan.paddedWord(bytes, at: wordStart)
            var nameEnd = start
            name: while true {
                var flags = OctetScan.flagsOutsideNames(word)
                while flags != 0 {
                    let (octet, index) = OctetScan.firstFlagged(word, flags)
                    if octet == Octet.colon {
                        nameEnd = wordStart &+ index
                        break name
                    }
                    guard OctetClass.contains(octet, OctetClass.token) else {
                        // CR and LF at the beginning of the line are the empty line.
                        guard octet == Octet.carriageReturn, wordStart &+ index == start,
                            Int(start) + 1 < bytes.count, bytes[Int(start) + 1] == Octet.lineFeed
                        else { return false }
                        start &+= 2
                        return true
                    }
                    // The octet is allowed in a name, such as a digit. Clears its flag, the lowest one.
                    flags &= flags &- 1
                }
                wordStart &+= 8
                word = OctetScan.paddedWord(bytes, at: wordStart)
            }
            var valueEnd = start
            guard findValueEnd(bytes, from: &wordStart, &word, &valueEnd),
                isPlain(bytes, start, nameEnd, valueEnd, maximumLineLength)
            else { return false }
            let entry = Fields.Entry(
                nameStart: start, nameEnd: nameEnd, valueStart: nameEnd &+ 2, valueEnd: valueEnd,
                tag: FieldName.Tag(
                    length: Int(nameEnd &- start), first: bytes[Int(start)], last: bytes[Int(nameEnd) - 1]))
            framingPositions.record(entry, at: newFieldCount, in: bytes)
            table[newFieldCount] = entry
            newFieldCount &+= 1
            // The next line begins after the CRLF.
            start = valueEnd &+ 2
        }
        return false
    }

    /// Finds the CR after a value, in `word`, which begins at `wordStart`, or in the words after it. Sets `valueEnd` to the index
    /// of the CR. Returns false if another octet that is not allowed in a value comes first.
    @inline(__always)
    private static func findValueEnd(
        _ bytes: Span<UInt8>, from wordStart: inout UInt32, _ word: inout UInt64, _ valueEnd: inout UInt32
    ) -> Bool {
        while true {
            var flags = OctetScan.flagsOutsideValues(word)
            while flags != 0 {
                let (octet, index) = OctetScan.firstFlagged(word, flags)
                if octet == Octet.carriageReturn {
                    valueEnd = wordStart &+ index
                    return true
                }
                guard OctetClass.contains(octet, OctetClass.value) else { return false }
                // Clears the lowest flag.
                flags &= flags &- 1
            }
            wordStart &+= 8
            word = OctetScan.paddedWord(bytes, at: wordStart)
        }
    }

    /// Whether the line is plain. Checks the octets between name and value, the first and last octet of the value, the line end,
    /// and the lengths of the line and the name.
    @inline(__always)
    private static func isPlain(
        _ bytes: Span<UInt8>, _ start: UInt32, _ nameEnd: UInt32, _ valueEnd: UInt32,
        _ maximumLineLength: UInt32
    ) -> Bool {
        // After the name there must be a colon and one space, 0x203A with the colon in the lowest byte. An octet above 0x20,
        // which is neither a blank nor a line end, must follow.
        let separator = OctetScan.paddedWord(bytes, at: nameEnd)
        guard UInt16(truncatingIfNeeded: separator) == 0x203A,
            UInt8(truncatingIfNeeded: separator &>> 16) > Octet.space
        else { return false }
        let hasLineFeed = Int(valueEnd) + 1 < bytes.count && bytes[Int(valueEnd) + 1] == Octet.lineFeed
        // A blank at the end is not part of the value.
        let endsInValue = bytes[Int(valueEnd) - 1] > Octet.space
        // The subtraction of 1 wraps around for an empty name, which therefore fails, too.
        let hasValidName = nameEnd &- start &- 1 < UInt32(Fields.maximumNameLength)
        return hasLineFeed && endsInValue && hasValidName && valueEnd &- start <= maximumLineLength
    }
}
