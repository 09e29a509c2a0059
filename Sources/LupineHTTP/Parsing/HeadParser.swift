// SPDX-License-Identifier: MIT

/// Reads one head, or the trailer section of a chunked body: RFC 9112 §2 to §5 and §7.1.2.
///
/// The caller passes received octets to `scan` until it has found the end of the head, and then calls `extractHead`. The octets
/// may arrive in pieces of any size, and each octet is scanned once. The result and the error do not depend on the pieces. The
/// parser scans a head that arrives whole in the caller's buffer, and copies it once into its `Fields`. Otherwise it stores the
/// pieces first.
package struct HeadParser {
    /// What a parser reads: the heads of responses, the heads of requests, or trailer sections.
    package enum Kind { case response, request, trailers }

    /// The parsed first line.
    package enum StartLine {
        case response(HTTPVersion, Status, customReason: [UInt8]?)
        /// On the heap (`indirect`), so that the enum is small and passing the line of a response is cheap.
        indirect case request(Method, RequestTarget, HTTPVersion)
        /// A trailer section has no first line.
        case none
    }

    /// A complete head.
    package struct ParsedHead {
        /// The parsed first line.
        package let startLine: StartLine
        /// The fields, in the order in which they arrived.
        package let fields: Fields
        /// The positions of the framing fields, found during the scan.
        let framingPositions: FramingFieldPositions
    }

    private let kind: Kind
    private var leniency: Leniency
    /// The limits on the head.
    private(set) var limits: ParserLimits

    /// The octets received so far of a head that arrives in pieces; empty if the head arrives whole.
    private var storedOctets: [UInt8] = []
    /// The entries of the current head, in the first `progress.fieldCount` elements. The parser reuses the storage for the next
    /// head.
    private var table: [Fields.Entry] = []
    private var progress = Progress()

    /// The progress of the scan; offsets count from the head's first octet.
    private struct Progress {
        /// The position at which the scan continues.
        var position = 0
        /// The beginning of the current line.
        var lineStart = 0
        /// The end of the name on the current line. It equals `lineStart` until the scan has found the end of the name. It is
        /// less than `lineStart` in a line that continues the previous field.
        var nameEnd = 0
        /// The number of fields found.
        var fieldCount = 0
        var framingPositions = FramingFieldPositions()
        var startLine = StartLine.none
        /// Whether the first line has been parsed. Also true for trailers, which have none.
        var hasStartLine = false
        /// Whether `scan` has found the end of the head.
        var isComplete = false
        /// The positions, in the table, of fields whose values continue over several lines.
        var foldedIndices: [Int] = []

        /// Prepares for the next head. Sets the array only if it is not empty, so that for most heads there is nothing to free.
        mutating func reset() {
            position = 0
            lineStart = 0
            nameEnd = 0
            fieldCount = 0
            framingPositions = FramingFieldPositions()
            startLine = .none
            hasStartLine = false
            isComplete = false
            if !foldedIndices.isEmpty { foldedIndices = [] }
        }
    }

    /// A parser for successive heads of one kind.
    package init(_ kind: Kind, limits: ParserLimits, leniency: Leniency) {
        self.kind = kind
        self.limits = limits.clamped
        self.leniency = leniency
    }

    /// Replaces the limits and tolerances, between two heads.
    mutating func configure(limits: ParserLimits, leniency: Leniency) {
        self.limits = limits.clamped
        self.leniency = leniency
    }

    /// The number of octets of the head that `scan` has stored.
    var receivedCount: Int { storedOctets.count }

    /// Scans `input`, which continues the previous input. If the head is complete, returns the number of octets of `input` that
    /// belong to it; `extractHead(from:)` then returns the head. Otherwise stores all of the input and returns nil. Throws if the
    /// head is invalid. Drops the previous head if it was complete but has not been extracted.
    package mutating func scan(_ input: Span<UInt8>) throws(HTTPError) -> Int? {
        if progress.isComplete { discardHead() }
        if storedOctets.isEmpty {
            if let end = try scanHead(input) { return end }
            storedOctets.append(input, 0..<input.count)
            return nil
        }
        // The local variable is the only owner of the array, so that appending does not copy it.
        var octets = storedOctets
        storedOctets = []
        let previousCount = octets.count
        // Stores at most one octet above the limit, which suffices to detect the error.
        octets.append(input, 0..<min(input.count, max(0, limits.headBytes &+ 1 &- previousCount)))
        let end = try scanHead(octets.span)
        // The caller keeps the octets after the head, which are still in `input`.
        if let end { octets.removeLast(octets.count &- end) }
        storedOctets = octets
        return end.map { $0 &- previousCount }
    }

    /// Drops a complete head that has not been extracted.
    private mutating func discardHead() {
        if !storedOctets.isEmpty { storedOctets = [] }
        progress.reset()
    }

    /// Returns the head whose end `scan` has just found in the same `input`, and prepares for the next head.
    package mutating func extractHead(from input: Span<UInt8>) -> ParsedHead {
        var octets: [UInt8]
        if storedOctets.isEmpty {
            octets = input.extracting(first: progress.position).makeArray()
        } else {
            octets = storedOctets
            storedOctets = []
        }
        var entries = Array(table[..<progress.fieldCount])
        for index in progress.foldedIndices { FoldedValue.unfold(&entries[index], in: &octets) }
        let parsed = ParsedHead(
            startLine: progress.startLine, fields: Fields(parsed: octets, entries: entries),
            framingPositions: progress.framingPositions)
        progress.reset()
        return parsed
    }

    // MARK: Scanning

    /// Continues the scan at `progress`. `bytes` begin with the head's first octet. Returns the end of the head, or nil if
    /// `bytes` do not contain it.
    private mutating func scanHead(_ bytes: Span<UInt8>) throws(HTTPError) -> Int? {
        // The number of octets that may belong to the head.
        let availableCount = min(bytes.count, limits.headBytes)
        if !progress.hasStartLine {
            if kind != .trailers {
                guard try scanStartLine(bytes, availableCount) else {
                    try checkLimits(bytes)
                    return nil
                }
            }
            progress.hasStartLine = true
        }
        while true {
            switch try Self.scanFields(bytes, availableCount, limits, leniency, &progress, &table) {
            case .end:
                progress.isComplete = true
                return progress.position
            case .needMore:
                try checkLimits(bytes)
                return nil
            case .tableFull:
                let empty = Fields.Entry(
                    name: 0..<0, value: 0..<0, tag: FieldName.Tag(length: 0, first: 0, last: 0))
                // Doubles the table.
                table.append(contentsOf: repeatElement(empty, count: max(16, table.count)))
            }
        }
    }

    /// The reason why `scanFields` returned.
    private enum StopReason {
        /// The empty line was found, which ends the head.
        case end
        /// All octets have been scanned, or all that a limit allows; `checkLimits` throws in the second case.
        case needMore
        /// The table has no room for another field.
        case tableFull
    }

    /// Scans lines until the empty line, the end of the octets, or the end of the table. The function is static, so that it can
    /// have the progress and the table as two `inout` arguments.
    private static func scanFields(
        _ bytes: Span<UInt8>, _ availableCount: Int, _ limits: ParserLimits, _ leniency: Leniency,
        _ progress: inout Progress, _ table: inout [Fields.Entry]
    ) throws(HTTPError) -> StopReason {
        var position = progress.position
        var lineStart = progress.lineStart
        var nameEnd = progress.nameEnd
        var fieldCount = progress.fieldCount
        // The number of fields that may be stored before the scan stops.
        let capacity = min(table.count, limits.fieldCount)
        var storage = table.mutableSpan
        var entries = storage._mutatingExtracting(first: capacity)
        let head = bytes.extracting(first: availableCount)
        var stopReason = StopReason.needMore
        line: while true {
            // At the beginning of a line, the fast path parses all plain lines that follow.
            if position == lineStart, nameEnd == lineStart {
                let isComplete = PlainLines.parse(
                    head, limits.lineBytes, from: &lineStart, into: &entries, &fieldCount,
                    &progress.framingPositions)
                position = lineStart
                nameEnd = lineStart
                if isComplete {
                    stopReason = .end
                    break line
                }
            }
            // One octet more than a line may have, so that `checkLimits` can tell a longer line from one of the maximum length.
            let scanEnd = min(availableCount, lineStart &+ limits.lineBytes &+ 1)
            // Scans the name, unless earlier input contained all of it. `scanName` returns nil if the value is next.
            if nameEnd == lineStart,
                let reason = try scanName(
                    bytes, availableCount, from: lineStart, to: scanEnd, &position, &nameEnd, fieldCount,
                    capacity: capacity, limits, leniency)
            {
                stopReason = reason
                break line
            }
            // In the value. It ends at the first octet that a value must not contain: the line end, or an invalid octet.
            position = OctetScan.endOfValue(bytes, from: position, to: scanEnd)
            guard position < scanEnd,
                let end = try nextLineStart(bytes, at: position, availableCount, leniency)
            else {
                // The reason to stop is still `.needMore`.
                break line
            }
            storeLine(bytes, lineStart, nameEnd, position, in: &entries, &fieldCount, &progress)
            position = end
            lineStart = end
            nameEnd = end
        }
        progress.position = position
        progress.lineStart = lineStart
        progress.nameEnd = nameEnd
        progress.fieldCount = fieldCount
        return stopReason
    }

    /// Scans the current line from `position` up to and including the colon after its name, or up to the first blank of a line
    /// that continues the previous field. Returns nil if the value is next, otherwise the reason to stop. `scanEnd` is the end of
    /// the octets that may belong to the line, and `capacity` the number of fields for which the table has room.
    @inline(__always)
    private static func scanName(
        _ bytes: Span<UInt8>, _ availableCount: Int, from lineStart: Int, to scanEnd: Int,
        _ position: inout Int, _ nameEnd: inout Int, _ fieldCount: Int, capacity: Int,
        _ limits: ParserLimits, _ leniency: Leniency
    ) throws(HTTPError) -> StopReason? {
        if position == lineStart {
            guard position < scanEnd else { return .needMore }
            let first = bytes[position]
            if first == Octet.carriageReturn || first == Octet.lineFeed {
                guard let end = try nextLineStart(bytes, at: position, availableCount, leniency) else {
                    return .needMore
                }
                position = end
                return .end
            }
            if Octet.isBlank(first) {
                guard leniency.contains(.obsoleteFolding), fieldCount > 0 else {
                    throw .foldedLine(offset: position)
                }
                // Marks the line as one that continues the previous field.
                nameEnd = lineStart &- 1
                return nil
            }
            guard fieldCount < capacity else {
                guard fieldCount < limits.fieldCount else {
                    throw .limitExceeded(.fieldCount, allowed: limits.fieldCount)
                }
                return .tableFull
            }
        }
        position = OctetScan.endOfToken(bytes, from: position, to: scanEnd)
        guard position < scanEnd else { return .needMore }
        guard bytes[position] == Octet.colon, position > lineStart else {
            throw nameError(bytes[position], at: position)
        }
        guard position &- lineStart <= Fields.maximumNameLength else {
            throw .limitExceeded(.lineBytes, allowed: Fields.maximumNameLength)
        }
        nameEnd = position
        position &+= 1
        return nil
    }

    /// Stores a complete line, whose value ends at `valueEnd`. The line either continues the last field or adds a field.
    @inline(__always)
    private static func storeLine(
        _ bytes: Span<UInt8>, _ lineStart: Int, _ nameEnd: Int, _ valueEnd: Int,
        in entries: inout MutableSpan<Fields.Entry>, _ fieldCount: inout Int, _ progress: inout Progress
    ) {
        let continuesLastField = nameEnd < lineStart
        if continuesLastField {
            let last = fieldCount &- 1
            // The value now includes the fold, which `FoldedValue` replaces when the head is extracted.
            entries[last].valueCount = UInt32(truncatingIfNeeded: valueEnd) &- entries[last].valueStart
            if progress.foldedIndices.last != last { progress.foldedIndices.append(last) }
        } else {
            let entry = Fields.Entry(
                name: lineStart..<nameEnd, value: bytes.trimmed((nameEnd &+ 1)..<valueEnd),
                tag: FieldName.Tag(bytes, lineStart, nameEnd))
            progress.framingPositions.record(entry, at: fieldCount, in: bytes)
            entries[fieldCount] = entry
            fieldCount &+= 1
        }
    }

    /// Throws if an incomplete head exceeds the limit on a line or on the head. `bytes` are its octets so far, all of which have
    /// been scanned. `scanStartLine` itself checks the limit of the first line.
    private func checkLimits(_ bytes: Span<UInt8>) throws(HTTPError) {
        if progress.hasStartLine, progress.position &- progress.lineStart > limits.lineBytes {
            throw .limitExceeded(.lineBytes, allowed: limits.lineBytes)
        }
        if bytes.count > limits.headBytes {
            throw .limitExceeded(kind == .trailers ? .trailerBytes : .headBytes, allowed: limits.headBytes)
        }
    }

    /// Returns the start of the next line if a line ends at `index`. Returns nil if the octet there is a CR and the last one
    /// available. Throws if the octet is another one that is not allowed in a value, or if `leniency` does not allow the line
    /// end.
    @inline(__always)
    private static func nextLineStart(
        _ bytes: Span<UInt8>, at index: Int, _ availableCount: Int, _ leniency: Leniency
    ) throws(HTTPError) -> Int? {
        let octet = bytes[index]
        if octet == Octet.carriageReturn {
            guard index &+ 1 < availableCount else { return nil }
            guard bytes[index &+ 1] == Octet.lineFeed else { throw .bareCarriageReturn(offset: index) }
            return index &+ 2
        }
        guard octet == Octet.lineFeed else { throw .invalidFieldValue(octet: octet, offset: index) }
        guard leniency.contains(.bareLineFeed) else { throw .bareLineFeed(offset: index) }
        return index &+ 1
    }

    /// Returns the error for an octet after a name that is not a colon, or for a colon without a name.
    private static func nameError(_ octet: UInt8, at index: Int) -> HTTPError {
        Octet.isBlank(octet)
            ? .whitespaceBeforeColon(offset: index) : .invalidFieldName(octet: octet, offset: index)
    }

    // MARK: The first line

    /// Parses the first line. Returns false if it is incomplete.
    private mutating func scanStartLine(_ bytes: Span<UInt8>, _ availableCount: Int) throws(HTTPError) -> Bool
    {
        // The fast path: the status line of nearly all responses.
        if progress.position == 0, kind == .response, limits.lineBytes >= PlainLines.okCount,
            PlainLines.beginsWithOK(bytes.extracting(first: availableCount))
        {
            progress.startLine = .response(.http11, Status(validated: 200), customReason: nil)
            beginFields(at: PlainLines.okCount &+ 2)
            return true
        }
        // The end of the octets that may belong to the line: the longest one, with its CR and LF.
        let scanEnd = min(availableCount, limits.lineBytes &+ 2)
        guard
            let lineFeed = OctetScan.firstIndex(
                of: Octet.lineFeed, bytes, from: progress.position, to: scanEnd)
        else {
            // A CR at the end may be part of the line end, and is not checked: the next octet decides.
            let endsInCarriageReturn = scanEnd > 0 && bytes[scanEnd &- 1] == Octet.carriageReturn
            try StartLineParser.checkBeginning(bytes, endsInCarriageReturn ? scanEnd &- 1 : scanEnd, kind)
            progress.position = scanEnd
            // The octets include the last place at which the LF of the longest allowed line can be.
            if scanEnd > limits.lineBytes &+ 1 { throw .limitExceeded(.lineBytes, allowed: limits.lineBytes) }
            return false
        }
        var end = lineFeed
        if end > 0, bytes[end &- 1] == Octet.carriageReturn {
            end &-= 1
        } else if !leniency.contains(.bareLineFeed) {
            try StartLineParser.checkBeginning(bytes, end, kind)
            throw .bareLineFeed(offset: lineFeed)
        }
        // The first line is empty.
        guard end > 0 else { throw .notHTTP(octet: bytes[0], offset: 0) }
        guard end <= limits.lineBytes else {
            try StartLineParser.checkBeginning(bytes, end, kind)
            throw .limitExceeded(.lineBytes, allowed: limits.lineBytes)
        }
        if kind == .response {
            progress.startLine = try StartLineParser.statusLine(bytes, end, leniency)
        } else {
            progress.startLine = try StartLineParser.requestLine(bytes, end)
        }
        beginFields(at: lineFeed &+ 1)
        return true
    }

    /// Prepares the scan for the field lines, the first of which begins at `position`.
    private mutating func beginFields(at position: Int) {
        progress.position = position
        progress.lineStart = position
        progress.nameEnd = position
    }
}
