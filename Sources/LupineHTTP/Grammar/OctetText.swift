// SPDX-License-Identifier: MIT

/// Functions that compare octets with text, and convert them to text.
extension Span where Element == UInt8 {
    /// Whether the octets of `text` are at `start`. Any octets may follow them.
    func contains(_ text: String, at start: Int) -> Bool {
        let expected = text.utf8.span
        guard start <= count, expected.count <= count &- start else { return false }
        for index in expected.indices where self[start &+ index] != expected[index] { return false }
        return true
    }

    /// Whether the octets in `range` are `text`, compared case-insensitively. The caller passes `text` in lower case.
    package func equals(lowercased text: String, in range: Range<Int>) -> Bool {
        let expected = text.utf8.span
        guard range.count == expected.count else { return false }
        let octets = extracting(range)
        for index in expected.indices where Octet.lowercased(octets[index]) != expected[index] {
            return false
        }
        return true
    }

    /// Returns the octets as an array without spare capacity.
    ///
    /// Fills the array with zeros first. The loop then copies between two spans of the same length, which the compiler
    /// vectorizes. Appending would check the capacity for each octet.
    @inline(__always)
    func makeArray() -> [UInt8] {
        var copy = [UInt8](repeating: 0, count: count)
        var octets = copy.mutableSpan
        for index in 0..<Swift.min(octets.count, count) { octets[index] = self[index] }
        return copy
    }

    /// Returns the octets in `range` as text: decoded as UTF-8 if they are valid UTF-8 and `isStreamSafe`, otherwise as Latin-1,
    /// in which each octet is one character.
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
    /// Whether the text has no more than 30 combining characters in a row, as in the Stream-Safe Text Format (UAX #15 §13).
    ///
    /// Swift compares and hashes strings by canonical equivalence. It sorts each run of combining characters, in a time that
    /// grows with the square of the run's length. A peer could make one comparison of 64 KiB last for half a second.
    var isStreamSafe: Bool {
        if isKnownASCII { return true }
        var scalars = makeUnicodeScalarIterator()
        var runLength = 0
        while let scalar = scalars.next() {
            let isCombining = scalar.properties.canonicalCombiningClass != .notReordered
            runLength = isCombining ? runLength + 1 : 0
            if runLength > 30 { return false }
        }
        return true
    }
}

extension String {
    /// Whether the text has no more than 30 combining characters in a row; see `UTF8Span.isStreamSafe`.
    package var isStreamSafe: Bool { utf8Span.isStreamSafe }
}

extension String {
    /// Whether two texts have the same octets, which is how HTTP compares opaque text. `==` compares by canonical equivalence,
    /// which a peer can make slow by its choice of text.
    package func hasSameOctets(as other: String) -> Bool {
        // For two ASCII strings `==` compares only the octets, and is faster than the loop below.
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
    /// Skips an empty range. All empty arrays of a process share one storage, and appending nothing to such an array writes a
    /// count into that storage. ThreadSanitizer rightly reports such writes on two threads as a race.
    package mutating func append(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        if range.isEmpty { return }
        // For more than 16 octets, copying over initialized elements is faster: see `makeArray()`.
        guard range.count > 16 else {
            return append(addingCapacity: range.count) { output in
                for index in range { output.append(bytes[index]) }
            }
        }
        let start = count
        append(addingCapacity: range.count) { $0.append(repeating: 0, count: range.count) }
        let added = bytes.extracting(range)
        var octets = mutableSpan
        // The two counts in the loop are equal; the minimum shows the compiler that each index is valid in both spans.
        var destination = octets._mutatingExtracting(droppingFirst: start)
        for index in 0..<Swift.min(destination.count, added.count) { destination[index] = added[index] }
    }

    /// Appends a number in decimal digits.
    mutating func append(decimal number: UInt64) {
        // 0x30 is "0".
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
