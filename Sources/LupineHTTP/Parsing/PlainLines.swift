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
            var place = start
            while true {
                let octets = OctetScan.paddedWord(bytes, at: place)
                let flags = OctetScan.flagsOutsideNames(octets)
                guard flags != 0 else {
                    place &+= 8
                    continue
                }
                let octet = OctetScan.firstFlagged(octets, flags, &place)
                if octet == Octet.colon { break }
                guard OctetClass.contains(octet, OctetClass.token) else {
                    guard octet == Octet.carriageReturn, place == start, Int(place) + 1 < bytes.count,
                        bytes[Int(place) + 1] == Octet.lineFeed
                    else { return false }
                    start &+= 2
                    return true
                }
                place &+= 1
            }
            let nameEnd = place
            // The colon and the space may stand in a value as well, so the word that begins with them is the value's
            // first one.
            var octets = OctetScan.paddedWord(bytes, at: place)
            guard UInt16(truncatingIfNeeded: octets) == 0x203A,
                UInt8(truncatingIfNeeded: octets &>> 16) > Octet.space
            else { return false }
            while true {
                let flags = OctetScan.flagsOutsideValues(octets)
                if flags == 0 {
                    place &+= 8
                } else {
                    let octet = OctetScan.firstFlagged(octets, flags, &place)
                    if octet == Octet.carriageReturn { break }
                    guard OctetClass.contains(octet, OctetClass.value) else { return false }
                    place &+= 1
                }
                octets = OctetScan.paddedWord(bytes, at: place)
            }
            // A blank at the end is no part of the value; no other octet up to a space may stand there at all.
            let nameCount = nameEnd &- start
            guard Int(place) + 1 < bytes.count, bytes[Int(place) + 1] == Octet.lineFeed,
                bytes[Int(place) - 1] > Octet.space, place &- start <= longestLine,
                nameCount > 0, nameCount <= UInt32(Fields.longestName)
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
