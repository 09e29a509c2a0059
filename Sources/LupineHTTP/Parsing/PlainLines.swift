// SPDX-License-Identifier: MIT

/// The fast path through a head: parses plain lines, as nearly all lines are, and leaves the others to `HeadParser`.
///
/// A plain field line is a name, a colon, one space, a value that is not empty, CRLF. Any other line, such as an invalid, a
/// tolerated or an incomplete one, stops the scan at its beginning, and `HeadParser` reads that line with all checks. The fast
/// path refuses nothing, and the parser would give the same result for every line that it accepts.
enum PlainLines {
    /// The length of the line that `beginsWithOK` looks for, without its line end.
    static let okCount = 15

    /// Whether the octets begin with the status line of nearly all responses: `HTTP/1.1 200 OK`, CRLF.
    @inline(__always)
    static func beginsWithOK(_ bytes: Span<UInt8>) -> Bool {
        // The words are "HTTP/1.1" and " 200 OK" with the CR, the first octet in the lowest byte.
        bytes.count > 16 && OctetScan.paddedWord(bytes, at: 0) == 0x312E_312F_5054_5448
            && OctetScan.paddedWord(bytes, at: 8) == 0x0D4B_4F20_3030_3220 && bytes[16] == Octet.lineFeed
    }

    /// Parses plain field lines from `lineStart` on, up to the capacity of `entries`. Afterwards `lineStart` is the beginning of
    /// the first line that was not parsed. Returns true if the empty line was found: `lineStart` is then after it.
    static func parse(
        _ bytes: Span<UInt8>, _ lineBytes: Int, from lineStart: inout Int,
        into entries: inout MutableSpan<Fields.Entry>, _ count: inout Int, _ framing: inout FramingFieldPositions
    ) -> Bool {
        // Offsets of 32 bits, as in the entries: the compiler then knows that adding a small number does not overflow, and one
        // comparison checks for eight octets.
        var start = UInt32(truncatingIfNeeded: lineStart)
        let longestLine = UInt32(clamping: lineBytes)
        var used = count
        var room = entries._mutatingExtracting(first: entries.count)
        defer {
            lineStart = Int(start)
            count = used
        }
        while used < room.count {
            // The octets of a name and the colon are also allowed in a value, so both scans use the same words, which are counted
            // from the beginning of the line. Where to read next depends only on the end of the line, and the processor need not
            // wait for the end of the name.
            var base = start
            var octets = OctetScan.paddedWord(bytes, at: base)
            var nameEnd = start
            name: while true {
                var flags = OctetScan.flagsOutsideNames(octets)
                while flags != 0 {
                    let (octet, index) = OctetScan.firstFlagged(octets, flags)
                    if octet == Octet.colon {
                        nameEnd = base &+ index
                        break name
                    }
                    guard OctetClass.contains(octet, OctetClass.token) else {
                        // A CR at the beginning of the line, before a LF, is the empty line.
                        guard octet == Octet.carriageReturn, base &+ index == start,
                            Int(start) + 1 < bytes.count, bytes[Int(start) + 1] == Octet.lineFeed
                        else { return false }
                        start &+= 2
                        return true
                    }
                    // Clears the lowest flag.
                    flags &= flags &- 1
                }
                base &+= 8
                octets = OctetScan.paddedWord(bytes, at: base)
            }
            var valueEnd = start
            guard findValueEnd(bytes, from: &base, &octets, &valueEnd),
                isPlain(bytes, start, nameEnd, valueEnd, longestLine)
            else { return false }
            let nameCount = nameEnd &- start
            let entry = Fields.Entry(
                nameStart: start, nameEnd: nameEnd, valueStart: nameEnd &+ 2, valueEnd: valueEnd,
                tag: FieldName.Tag(
                    length: Int(nameCount), first: bytes[Int(start)], last: bytes[Int(nameEnd) - 1]))
            framing.record(entry, at: used, in: bytes)
            room[used] = entry
            used &+= 1
            start = valueEnd &+ 2
        }
        return false
    }

    /// Finds the CR after a value, in `octets`, which begin at `base`, or in the words after them. Returns false if an octet that
    /// is not allowed in a value comes first.
    @inline(__always)
    private static func findValueEnd(
        _ bytes: Span<UInt8>, from base: inout UInt32, _ octets: inout UInt64, _ valueEnd: inout UInt32
    ) -> Bool {
        while true {
            var flags = OctetScan.flagsOutsideValues(octets)
            while flags != 0 {
                let (octet, index) = OctetScan.firstFlagged(octets, flags)
                if octet == Octet.carriageReturn {
                    valueEnd = base &+ index
                    return true
                }
                guard OctetClass.contains(octet, OctetClass.value) else { return false }
                flags &= flags &- 1
            }
            base &+= 8
            octets = OctetScan.paddedWord(bytes, at: base)
        }
    }

    /// Whether the line is plain: checks what surrounds its name and value, and its length.
    @inline(__always)
    private static func isPlain(
        _ bytes: Span<UInt8>, _ start: UInt32, _ nameEnd: UInt32, _ valueEnd: UInt32, _ longestLine: UInt32
    ) -> Bool {
        // A colon and one space, as 0x203A, and an octet that is neither a blank nor a line end.
        let separator = OctetScan.paddedWord(bytes, at: nameEnd)
        guard UInt16(truncatingIfNeeded: separator) == 0x203A,
            UInt8(truncatingIfNeeded: separator &>> 16) > Octet.space
        else { return false }
        // The last octet of the value must be greater than a space: a blank there is not part of the value. The subtraction in
        // the last condition wraps around for an empty name, which also fails.
        return Int(valueEnd) + 1 < bytes.count && bytes[Int(valueEnd) + 1] == Octet.lineFeed
            && bytes[Int(valueEnd) - 1] > Octet.space && valueEnd &- start <= longestLine
            && nameEnd &- start &- 1 < UInt32(Fields.maximumNameLength)
    }
}
