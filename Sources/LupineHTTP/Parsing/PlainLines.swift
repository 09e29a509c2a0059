// SPDX-License-Identifier: MIT

/// The quick way through a head: takes lines that are written as nearly all are, and leaves the others alone.
///
/// A plain field line is a name, a colon, one space, a value that is not empty, CRLF. Whatever else there may be, a
/// mistake, a tolerated oddity, a line that has not come in full, stops the walk at the beginning of its line, and
/// `HeadParser` goes through that line with every rule in hand: nothing is refused here, and what is taken here the
/// parser would take alike.
enum PlainLines {
    /// How long the line is that `beginsWithOK` looks for, without its line end.
    static let okCount = 15

    /// Whether the octets begin with the one status line that nearly all responses have: `HTTP/1.1 200 OK`, CRLF.
    @inline(__always)
    static func beginsWithOK(_ bytes: Span<UInt8>) -> Bool {
        bytes.count > 16 && OctetScan.paddedWord(bytes, at: 0) == 0x312E_312F_5054_5448
            && OctetScan.paddedWord(bytes, at: 8) == 0x0D4B_4F20_3030_3220 && bytes[16] == Octet.lineFeed
    }

    /// Takes the plain field lines from `lineStart` on, as many as `entries` has room for. Afterwards `lineStart` is
    /// where the first line begins that was not taken. Returns true when the empty line has been found: `lineStart`
    /// is then behind it.
    static func take(
        _ bytes: Span<UInt8>, _ lineBytes: Int, from lineStart: inout Int,
        into entries: inout MutableSpan<Fields.Entry>, _ count: inout Int, _ framing: inout FramingFields
    ) -> Bool {
        // Offsets of 32 bits, which is what entries hold anyway: a sum of one and a small number is then known not to
        // overflow, and eight octets are checked for by one comparison.
        var start = UInt32(truncatingIfNeeded: lineStart)
        let longestLine = UInt32(clamping: lineBytes)
        var taken = count
        var room = entries._mutatingExtracting(first: entries.count)
        defer {
            lineStart = Int(start)
            count = taken
        }
        while taken < room.count {
            // What may stand in a name may stand in a value too, and so may the colon. The words are therefore the
            // same for both, counted from the beginning of the line: only where the line ends decides where to read
            // next, and the processor need not wait to know where the name does.
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
                        guard octet == Octet.carriageReturn, base &+ index == start,
                            Int(start) + 1 < bytes.count, bytes[Int(start) + 1] == Octet.lineFeed
                        else { return false }
                        start &+= 2
                        return true
                    }
                    flags &= flags &- 1
                }
                base &+= 8
                octets = OctetScan.paddedWord(bytes, at: base)
            }
            var place = start
            value: while true {
                var flags = OctetScan.flagsOutsideValues(octets)
                while flags != 0 {
                    let (octet, index) = OctetScan.firstFlagged(octets, flags)
                    if octet == Octet.carriageReturn {
                        place = base &+ index
                        break value
                    }
                    guard OctetClass.contains(octet, OctetClass.value) else { return false }
                    flags &= flags &- 1
                }
                base &+= 8
                octets = OctetScan.paddedWord(bytes, at: base)
            }
            let separator = OctetScan.paddedWord(bytes, at: nameEnd)
            guard UInt16(truncatingIfNeeded: separator) == 0x203A,
                UInt8(truncatingIfNeeded: separator &>> 16) > Octet.space
            else { return false }
            // A blank at the end is no part of the value; no other octet up to a space may stand there at all. A name
            // of no octets wraps to more than the longest.
            let nameCount = nameEnd &- start
            guard Int(place) + 1 < bytes.count, bytes[Int(place) + 1] == Octet.lineFeed,
                bytes[Int(place) - 1] > Octet.space, place &- start <= longestLine,
                nameCount &- 1 < UInt32(Fields.longestName)
            else { return false }
            let entry = Fields.Entry(
                nameStart: start, nameEnd: nameEnd, valueStart: nameEnd &+ 2, valueEnd: place,
                tag: FieldName.Tag(
                    length: Int(nameCount), first: bytes[Int(start)], last: bytes[Int(nameEnd) - 1]))
            framing.note(entry, at: taken, in: bytes)
            room[taken] = entry
            taken &+= 1
            start = place &+ 2
        }
        return false
    }
}
