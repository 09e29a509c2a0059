// SPDX-License-Identifier: MIT

/// Compares octets with text, and converts them to text.
extension Span where Element == UInt8 {
    /// Whether the octets from `start` on begin with those of `text`.
    func equals(_ text: String, at start: Int) -> Bool {
        let wanted = text.utf8.span
        guard start <= count, wanted.count <= count &- start else { return false }
        for index in wanted.indices where self[start &+ index] != wanted[index] { return false }
        return true
    }

    /// Whether the octets in `range` are `text`, which is in lower case, compared case-insensitively.
    package func equals(lowercased text: String, in range: Range<Int>) -> Bool {
        let wanted = text.utf8.span
        guard range.count == wanted.count else { return false }
        let octets = extracting(range)
        for index in wanted.indices where Octet.lowercased(octets[index]) != wanted[index] { return false }
        return true
    }

    /// Returns the octets as an array without spare capacity.
    ///
    /// Fills the array with zeros first, so that the loop copies between two spans of the same length, which the compiler
    /// vectorizes; appending would check and count each octet.
    @inline(__always)
    func copied() -> [UInt8] {
        var copy = [UInt8](repeating: 0, count: count)
        var octets = copy.mutableSpan
        for index in 0..<Swift.min(octets.count, count) { octets[index] = self[index] }
        return copy
    }

    /// Returns the octets in `range` as text: UTF-8 if they are valid and have no long run of combining characters, Latin-1
    /// otherwise.
    package func text(_ range: Range<Int>) -> String {
        let octets = extracting(range)
        if let valid = try? UTF8Span(validating: octets), valid.isStreamSafe { return String(copying: valid) }
        var text = String.UnicodeScalarView()
        for index in octets.indices { text.append(Unicode.Scalar(octets[index])) }
        return String(text)
    }

    /// Returns `range` without blanks at either end.
    @inline(__always)
    package func trimmed(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, Octet.isBlank(self[start]) { start &+= 1 }
        while end > start, Octet.isBlank(self[end &- 1]) { end &-= 1 }
        return start..<end
    }
}

extension UTF8Span {
    /// Whether at most 30 combining characters follow each other, as in the Stream-Safe Text Format (UAX #15 §13).
    ///
    /// Strings are compared and hashed by canonical equivalence: each run of combining characters is sorted, and the time
    /// grows with the square of its length. A peer could make one comparison of 64 KiB last for half a second.
    var isStreamSafe: Bool {
        if isKnownASCII { return true }
        var scalars = makeUnicodeScalarIterator()
        var run = 0
        while let scalar = scalars.next() {
            run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
            if run > 30 { return false }
        }
        return true
    }
}

extension String {
    /// Whether at most 30 combining characters follow each other; see `UTF8Span.isStreamSafe`.
    package var isStreamSafe: Bool { utf8Span.isStreamSafe }
}

extension String {
    /// Whether both texts have the same octets, which is how HTTP compares opaque text. `==` compares by canonical equivalence,
    /// which a peer can make slow by its choice of text.
    package func hasSameOctets(as other: String) -> Bool {
        // For ASCII, `==` compares the memory, which is the fastest way.
        if utf8Span.isKnownASCII, other.utf8Span.isKnownASCII { return self == other }
        let (octets, others) = (utf8Span.span, other.utf8Span.span)
        guard octets.count == others.count else { return false }
        for index in octets.indices where octets[index] != others[index] { return false }
        return true
    }
}

extension Array where Element == UInt8 {
    /// Appends the octets in `range` of `bytes`.
    ///
    /// An empty range is skipped: appending nothing to an array without storage still writes its count into the storage that all
    /// empty arrays of the process share, which ThreadSanitizer rightly reports as a race.
    package mutating func append(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        if range.isEmpty { return }
        // For more than 16 octets, copying over initialized elements is faster: see `copied()`.
        guard range.count > 16 else {
            return append(addingCapacity: range.count) { output in
                for index in range { output.append(bytes[index]) }
            }
        }
        let start = count
        append(addingCapacity: range.count) { $0.append(repeating: 0, count: range.count) }
        let added = bytes.extracting(range)
        var octets = mutableSpan
        var room = octets._mutatingExtracting(droppingFirst: start)
        for index in 0..<Swift.min(room.count, added.count) { room[index] = added[index] }
    }

    /// Appends a number in decimal digits.
    mutating func append(decimal number: UInt64) {
        guard number >= 10 else { return append(0x30 &+ UInt8(truncatingIfNeeded: number)) }
        append(decimal: number / 10)
        append(0x30 &+ UInt8(truncatingIfNeeded: number % 10))
    }

    /// Appends a number in hexadecimal digits, without leading zeros.
    mutating func append(hexadecimal number: UInt64) {
        guard number >= 16 else {
            let digit = UInt8(truncatingIfNeeded: number)
            return append(digit < 10 ? 0x30 &+ digit : UInt8(ascii: "a") &+ digit &- 10)
        }
        append(hexadecimal: number >> 4)
        append(hexadecimal: number & 15)
    }

    /// Appends the octets of a text.
    @inline(__always)
    mutating func append(text: String) {
        let octets = text.utf8.span
        append(octets, 0..<octets.count)
    }
}
