// SPDX-License-Identifier: MIT

/// Reads one head, or the trailer section of a chunked body: RFC 9112 §2 to §5 and §7.1.2.
///
/// It takes bytes in whatever pieces they come and looks at each once. A head that arrives whole is parsed where it
/// lies and copied once into the `Fields` that keep it; one that arrives in pieces is gathered here first. Whether
/// bytes came in one piece or in many makes no difference to what is returned or thrown.
struct HeadParser {
    /// What kind of head is expected.
    enum Kind { case response, request, trailers }

    /// What the first line said.
    enum StartLine {
        case response(HTTPVersion, Status, ownReason: [UInt8]?)
        case request(Method, RequestTarget, HTTPVersion)
        case none
    }

    /// A head in full.
    struct Parsed {
        let startLine: StartLine
        let fields: Fields
        /// Values that decide the framing, found in passing.
        let framing: FramingFields
        /// Octets of the head on the wire.
        let octetCount: Int
    }

    private let kind: Kind
    private let limits: ParserLimits
    private let leniency: Leniency

    /// The octets so far of a head that came in pieces.
    private var pending: [UInt8] = []
    private var entries: [Fields.Entry] = []
    private var framing = FramingFields()
    /// Positions of entries whose values were folded.
    private var folded: [Int] = []
    private var startLine = StartLine.none
    private var isInFields: Bool
    /// Where the scan goes on, in octets of the head.
    private var place = 0
    /// Where the current line begins.
    private var lineStart = 0
    /// Where the name of the current line ends; equal to `lineStart` while it has not been found.
    private var nameEnd = 0

    init(_ kind: Kind, limits: ParserLimits, leniency: Leniency) {
        self.kind = kind
        self.limits = limits
        self.leniency = leniency
        isInFields = kind == .trailers
    }

    /// Octets of the head that have come and been kept.
    var receivedCount: Int { pending.count }

    /// Makes the parser ready for the next head.
    mutating func reset() {
        pending = []
        entries = []
        framing = FramingFields()
        folded = []
        startLine = .none
        isInFields = kind == .trailers
        place = 0
        lineStart = 0
        nameEnd = 0
    }

    /// Takes from `input` what belongs to the head. Returns the head when it is complete and how many octets were
    /// taken; without a head, all of them were.
    mutating func parse(_ input: Span<UInt8>) throws(HTTPError) -> (head: Parsed?, consumed: Int) {
        if pending.isEmpty {
            guard let end = try scan(input) else {
                pending.append(input, 0..<input.count)
                return (nil, input.count)
            }
            var octets: [UInt8] = []
            octets.append(input, 0..<end)
            return (finished(octets), end)
        }
        var gathered = pending
        pending = []
        let before = gathered.count
        gathered.append(input, 0..<min(input.count, max(0, limits.headBytes &+ 1 &- before)))
        guard let end = try scan(gathered.span) else {
            pending = gathered
            return (nil, input.count)
        }
        gathered.removeLast(gathered.count &- end)
        return (finished(gathered), end &- before)
    }

    private mutating func finished(_ octets: consuming [UInt8]) -> Parsed {
        let count = octets.count
        var octets = octets
        for index in folded { Self.unfold(&entries[index], in: &octets) }
        let parsed = Parsed(
            startLine: startLine, fields: Fields(parsed: octets, entries: entries), framing: framing,
            octetCount: count)
        reset()
        return parsed
    }

    // MARK: the scan

    /// Goes on at `place`. Returns where the head ends, or nil when `bytes`, which begin with the head's first
    /// octet, do not reach that far.
    private mutating func scan(_ bytes: Span<UInt8>) throws(HTTPError) -> Int? {
        let available = min(bytes.count, limits.headBytes)
        if !isInFields {
            guard try scanStartLine(bytes, available) else { return try incomplete(bytes) }
            isInFields = true
            entries.reserveCapacity(min(64, max(16, available >> 5)))
        }
        while true {
            let bound = min(available, lineStart &+ limits.lineBytes &+ 1)
            if nameEnd == lineStart {
                if place == lineStart {
                    guard place < bound else { return try incomplete(bytes) }
                    let first = bytes[place]
                    if first == Octet.carriageReturn || first == Octet.lineFeed {
                        guard let end = try lineEnd(bytes, at: place, available) else {
                            return try incomplete(bytes)
                        }
                        return end
                    }
                    if Octet.isBlank(first) {
                        guard leniency.contains(.obsoleteFolding), !entries.isEmpty else {
                            throw .foldedLine(offset: place)
                        }
                        // The line is all value: an empty name stands for that.
                        nameEnd = lineStart &- 1
                        continue
                    }
                }
                place = OctetScan.endOfToken(bytes, from: place, to: bound)
                guard place < bound else { return try incomplete(bytes) }
                guard bytes[place] == Octet.colon, place > lineStart else {
                    throw nameError(bytes[place], at: place)
                }
                guard place &- lineStart <= Fields.longestName else {
                    throw .limitExceeded(.lineBytes, allowed: Fields.longestName)
                }
                nameEnd = place
                place &+= 1
            }
            place = OctetScan.endOfValue(bytes, from: place, to: bound)
            guard place < bound else { return try incomplete(bytes) }
            guard let end = try lineEnd(bytes, at: place, available) else { return try incomplete(bytes) }
            if nameEnd < lineStart {
                continueLastField(through: place)
            } else {
                try addField(bytes, value: bytes.trimmed((nameEnd &+ 1)..<place))
            }
            place = end
            lineStart = end
            nameEnd = end
        }
    }

    /// Nothing more to see: says whether that is for want of octets or because of a limit.
    private func incomplete(_ bytes: Span<UInt8>) throws(HTTPError) -> Int? {
        if place &- lineStart > limits.lineBytes {
            throw .limitExceeded(.lineBytes, allowed: limits.lineBytes)
        }
        if bytes.count > limits.headBytes {
            throw .limitExceeded(kind == .trailers ? .trailerBytes : .headBytes, allowed: limits.headBytes)
        }
        return nil
    }

    /// Where the line that ends at `index`, with an octet that is no part of a value, gives way to the next one;
    /// nil when a carriage return is the last octet there is.
    @inline(__always)
    private func lineEnd(_ bytes: Span<UInt8>, at index: Int, _ available: Int) throws(HTTPError) -> Int? {
        let octet = bytes[index]
        if octet == Octet.carriageReturn {
            guard index &+ 1 < available else { return nil }
            guard bytes[index &+ 1] == Octet.lineFeed else { throw .bareCarriageReturn(offset: index) }
            return index &+ 2
        }
        guard octet == Octet.lineFeed else { throw .invalidFieldValue(octet: octet, offset: index) }
        guard leniency.contains(.bareLineFeed) else { throw .bareLineFeed(offset: index) }
        return index &+ 1
    }

    private func nameError(_ octet: UInt8, at index: Int) -> HTTPError {
        Octet.isBlank(octet)
            ? .whitespaceBeforeColon(offset: index) : .invalidFieldName(octet: octet, offset: index)
    }

    @inline(__always)
    private mutating func addField(_ bytes: Span<UInt8>, value: Range<Int>) throws(HTTPError) {
        guard entries.count < limits.fieldCount else {
            throw .limitExceeded(.fieldCount, allowed: limits.fieldCount)
        }
        let tag = FieldName.Tag(bytes, lineStart, nameEnd)
        let entry = Fields.Entry(name: lineStart..<nameEnd, value: value, tag: tag)
        if kind != .trailers { framing.note(entry, at: entries.count, in: bytes) }
        entries.append(entry)
    }

    // MARK: folded lines

    private mutating func continueLastField(through end: Int) {
        let last = entries.count &- 1
        if folded.last != last { folded.append(last) }
        entries[last].valueCount = UInt32(truncatingIfNeeded: end) &- entries[last].valueStart
    }

    /// Writes the value of `entry` anew behind the others, each fold and the blanks around it one space.
    private static func unfold(_ entry: inout Fields.Entry, in octets: inout [UInt8]) {
        var value: [UInt8] = []
        var isBlank = false
        var isFold = false
        var blanks: [UInt8] = []
        for octet in octets[entry.value] {
            if octet == Octet.carriageReturn || octet == Octet.lineFeed {
                isFold = true
                isBlank = true
            } else if Octet.isBlank(octet) {
                isBlank = true
                blanks.append(octet)
            } else {
                if isBlank, !value.isEmpty { value += isFold ? [Octet.space] : blanks }
                isBlank = false
                isFold = false
                blanks.removeAll(keepingCapacity: true)
                value.append(octet)
            }
        }
        entry.valueStart = UInt32(truncatingIfNeeded: octets.count)
        entry.valueCount = UInt32(truncatingIfNeeded: value.count)
        octets += value
    }

    // MARK: the first line

    private mutating func scanStartLine(_ bytes: Span<UInt8>, _ available: Int) throws(HTTPError) -> Bool {
        let bound = min(available, limits.lineBytes &+ 2)
        guard let feed = OctetScan.firstIndex(of: Octet.lineFeed, bytes, from: place, to: bound) else {
            try StartLineParser.checkBeginning(bytes, bound, kind)
            if bound > limits.lineBytes &+ 1 { throw .limitExceeded(.lineBytes, allowed: limits.lineBytes) }
            place = bound
            return false
        }
        var end = feed
        if end > 0, bytes[end &- 1] == Octet.carriageReturn {
            end &-= 1
        } else if !leniency.contains(.bareLineFeed) {
            try StartLineParser.checkBeginning(bytes, end, kind)
            throw .bareLineFeed(offset: feed)
        }
        guard end <= limits.lineBytes else { throw .limitExceeded(.lineBytes, allowed: limits.lineBytes) }
        startLine =
            kind == .response
            ? try StartLineParser.statusLine(bytes, end, leniency)
            : try StartLineParser.requestLine(bytes, end)
        place = feed &+ 1
        lineStart = place
        nameEnd = place
        return true
    }
}
