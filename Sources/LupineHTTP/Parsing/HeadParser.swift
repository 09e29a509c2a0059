// SPDX-License-Identifier: MIT

/// Reads one head, or the trailer section of a chunked body: RFC 9112 §2 to §5 and §7.1.2.
///
/// Input may arrive in any pieces, and each octet is scanned once. The parser parses a head that arrives whole in place, and
/// copies it once into its `Fields`; it first collects a head that arrives in pieces. The result and the error do not depend on
/// the pieces.
package struct HeadParser {
    /// The kind of head that is expected.
    package enum Kind { case response, request, trailers }

    /// The parsed first line.
    package enum StartLine {
        case response(HTTPVersion, Status, customReason: [UInt8]?)
        /// On the heap (`indirect`), so that the enum is small and a response's line cheap to pass.
        indirect case request(Method, RequestTarget, HTTPVersion)
        /// Trailers have none.
        case none
    }

    /// A complete head.
    package struct ParsedHead {
        /// The parsed first line.
        package let startLine: StartLine
        /// The fields, in the order of the wire.
        package let fields: Fields
        /// The positions of the framing fields, found during the scan.
        let framing: FramingFieldPositions
    }

    private let kind: Kind
    private let leniency: Leniency
    /// The limits on the head.
    let limits: ParserLimits

    /// The octets so far of a head that arrives in pieces.
    private var pending: [UInt8] = []
    /// The entries of the current head; `progress.count` of them are used. The parser reuses the storage for the next head.
    private var table: [Fields.Entry] = []
    private var progress = Progress()

    /// The progress of the scan; offsets count from the head's first octet.
    private struct Progress {
        /// The position at which the scan continues.
        var position = 0
        /// The beginning of the current line.
        var lineStart = 0
        /// The end of the name on the current line. Equals `lineStart` until the name's end is found, and is less than
        /// `lineStart` in a line that continues the previous field.
        var nameEnd = 0
        /// The number of fields found.
        var count = 0
        var framing = FramingFieldPositions()
        var startLine = StartLine.none
        var hasStartLine = false
        /// Whether `scan` has found the end of the head.
        var isFound = false
        /// The positions, in the table, of fields with folded values.
        var folded: [Int] = []

        /// Prepares for the next head; field by field, because most heads leave nothing to be freed.
        mutating func reset() {
            position = 0
            lineStart = 0
            nameEnd = 0
            count = 0
            framing = FramingFieldPositions()
            startLine = .none
            hasStartLine = false
            isFound = false
            if !folded.isEmpty { folded = [] }
        }
    }

    /// A parser for successive heads of one kind.
    package init(_ kind: Kind, limits: ParserLimits, leniency: Leniency) {
        self.kind = kind
        self.limits = limits.bounded
        self.leniency = leniency
    }

    /// The number of octets of the head that `scan` has stored.
    var receivedCount: Int { pending.count }

    /// Scans `input`, which continues the previous input. If the head is complete, returns the number of octets of `input` that
    /// belong to it; `take` then returns the head. Otherwise stores all of the input and returns nil. If the previous head was
    /// found but not taken, drops it, and begins another one.
    package mutating func scan(_ input: Span<UInt8>) throws(HTTPError) -> Int? {
        if progress.isFound { discardHead() }
        if pending.isEmpty {
            if let end = try scanHead(input) { return end }
            pending.append(input, 0..<input.count)
            return nil
        }
        // At most one octet above the limit is stored, which suffices to detect the error.
        var gathered = pending
        pending = []
        let before = gathered.count
        gathered.append(input, 0..<min(input.count, max(0, limits.headBytes &+ 1 &- before)))
        let end = try scanHead(gathered.span)
        if let end { gathered.removeLast(gathered.count &- end) }
        pending = gathered
        return end.map { $0 &- before }
    }

    /// Drops a head that was found but not taken.
    private mutating func discardHead() {
        if !pending.isEmpty { pending = [] }
        progress.reset()
    }

    /// Returns the head that `scan` has just found in `input`, and prepares for the next one.
    package mutating func extractHead(from input: Span<UInt8>) -> ParsedHead {
        var octets: [UInt8]
        if pending.isEmpty {
            octets = input.extracting(first: progress.position).makeArray()
        } else {
            octets = pending
            pending = []
        }
        var entries = Array(table[..<progress.count])
        for index in progress.folded { FoldedValue.unfold(&entries[index], in: &octets) }
        let parsed = ParsedHead(
            startLine: progress.startLine, fields: Fields(parsed: octets, entries: entries),
            framing: progress.framing)
        progress.reset()
        return parsed
    }

    // MARK: Scanning

    /// Continues the scan at `progress`. `bytes` begin with the head's first octet. Returns the end of the head, or nil if
    /// `bytes` do not contain it.
    private mutating func scanHead(_ bytes: Span<UInt8>) throws(HTTPError) -> Int? {
        let available = min(bytes.count, limits.headBytes)
        if !progress.hasStartLine {
            if kind != .trailers {
                guard try scanStartLine(bytes, available) else { return try incomplete(bytes) }
            }
            progress.hasStartLine = true
        }
        while true {
            switch try Self.scanFields(bytes, available, limits, leniency, &progress, &table) {
            case .end:
                progress.isFound = true
                return progress.position
            case .needMore: return try incomplete(bytes)
            case .tableFull:
                let empty = Fields.Entry(
                    name: 0..<0, value: 0..<0, tag: FieldName.Tag(length: 0, first: 0, last: 0))
                // Doubles the table.
                table.append(contentsOf: repeatElement(empty, count: max(16, table.count)))
            }
        }
    }

    /// The reason why `scanFields` returned.
    private enum Stop {
        /// The empty line was found, which ends the head.
        case end
        /// The octets are used up, or those that a limit allows; `incomplete` distinguishes the two.
        case needMore
        /// The table has no room for another field.
        case tableFull
    }

    /// Scans lines until the empty line, the end of the octets, or the end of the table. A static function, which gets exclusive
    /// access to both the progress and the table as `inout` arguments.
    private static func scanFields(
        _ bytes: Span<UInt8>, _ available: Int, _ limits: ParserLimits, _ leniency: Leniency,
        _ progress: inout Progress, _ table: inout [Fields.Entry]
    ) throws(HTTPError) -> Stop {
        var position = progress.position
        var lineStart = progress.lineStart
        var nameEnd = progress.nameEnd
        var count = progress.count
        let room = min(table.count, limits.fieldCount)
        var storage = table.mutableSpan
        var entries = storage._mutatingExtracting(first: room)
        let head = bytes.extracting(first: available)
        var stop = Stop.needMore
        line: while true {
            // At the beginning of a line: the fast path parses all plain lines.
            if position == lineStart, nameEnd == lineStart {
                let isComplete = PlainLines.parse(
                    head, limits.lineBytes, from: &lineStart, into: &entries, &count, &progress.framing)
                position = lineStart
                nameEnd = lineStart
                if isComplete {
                    stop = .end
                    break line
                }
            }
            // One octet more than a line may have, so that `incomplete` can tell a longer line from one of the maximum length.
            let bound = min(available, lineStart &+ limits.lineBytes &+ 1)
            if nameEnd == lineStart,
                let reason = try scanName(
                    bytes, available, from: lineStart, to: bound, &position, &nameEnd, count, room: room,
                    limits, leniency)
            {
                stop = reason
                break line
            }
            // In the value. Its end is at an octet that it must not contain: the line end, or an error.
            position = OctetScan.endOfValue(bytes, from: position, to: bound)
            guard position < bound, let end = try lineEnd(bytes, at: position, available, leniency) else {
                break line
            }
            storeLine(bytes, lineStart, nameEnd, position, in: &entries, &count, &progress)
            position = end
            lineStart = end
            nameEnd = end
        }
        progress.position = position
        progress.lineStart = lineStart
        progress.nameEnd = nameEnd
        progress.count = count
        return stop
    }

    /// Scans the current line from `position` up to the colon after its name, or up to the blank of a line that continues the
    /// previous field. Returns nil if the value is next, else the reason to stop: the empty line was found, the octets are used
    /// up, or the table has no room for the field. `room` is the number of fields that the table may contain.
    @inline(__always)
    private static func scanName(
        _ bytes: Span<UInt8>, _ available: Int, from lineStart: Int, to bound: Int, _ position: inout Int,
        _ nameEnd: inout Int, _ count: Int, room: Int, _ limits: ParserLimits, _ leniency: Leniency
    ) throws(HTTPError) -> Stop? {
        if position == lineStart {
            guard position < bound else { return .needMore }
            let first = bytes[position]
            if first == Octet.carriageReturn || first == Octet.lineFeed {
                guard let end = try lineEnd(bytes, at: position, available, leniency) else {
                    return .needMore
                }
                position = end
                return .end
            }
            if Octet.isBlank(first) {
                guard leniency.contains(.obsoleteFolding), count > 0 else {
                    throw .foldedLine(offset: position)
                }
                nameEnd = lineStart &- 1
                return nil
            }
            guard count < room else {
                guard count < limits.fieldCount else {
                    throw .limitExceeded(.fieldCount, allowed: limits.fieldCount)
                }
                return .tableFull
            }
        }
        position = OctetScan.endOfToken(bytes, from: position, to: bound)
        guard position < bound else { return .needMore }
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

    /// Stores a complete line, whose value ends at `valueEnd`: it either continues the last field or adds one.
    @inline(__always)
    private static func storeLine(
        _ bytes: Span<UInt8>, _ lineStart: Int, _ nameEnd: Int, _ valueEnd: Int,
        in entries: inout MutableSpan<Fields.Entry>, _ count: inout Int, _ progress: inout Progress
    ) {
        if nameEnd < lineStart {
            let last = count &- 1
            entries[last].valueCount = UInt32(truncatingIfNeeded: valueEnd) &- entries[last].valueStart
            if progress.folded.last != last { progress.folded.append(last) }
        } else {
            let entry = Fields.Entry(
                name: lineStart..<nameEnd, value: bytes.trimmed((nameEnd &+ 1)..<valueEnd),
                tag: FieldName.Tag(bytes, lineStart, nameEnd))
            progress.framing.record(entry, at: count, in: bytes)
            entries[count] = entry
            count &+= 1
        }
    }

    /// Returns nil if the head may continue after these octets, which have been scanned completely; throws if it exceeds a limit.
    /// `scanStartLine` has checked the limit of the first line. The type of the result is that of `scanHead`, which returns it.
    private func incomplete(_ bytes: Span<UInt8>) throws(HTTPError) -> Int? {
        if progress.hasStartLine, progress.position &- progress.lineStart > limits.lineBytes {
            throw .limitExceeded(.lineBytes, allowed: limits.lineBytes)
        }
        if bytes.count > limits.headBytes {
            throw .limitExceeded(kind == .trailers ? .trailerBytes : .headBytes, allowed: limits.headBytes)
        }
        return nil
    }

    /// Returns the start of the next line if a line ends at `index`; nil if the octet there is a CR and the last one. Throws if
    /// the octet, which is not allowed in a value, is neither CR nor LF.
    @inline(__always)
    private static func lineEnd(
        _ bytes: Span<UInt8>, at index: Int, _ available: Int, _ leniency: Leniency
    ) throws(HTTPError) -> Int? {
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

    private static func nameError(_ octet: UInt8, at index: Int) -> HTTPError {
        Octet.isBlank(octet)
            ? .whitespaceBeforeColon(offset: index) : .invalidFieldName(octet: octet, offset: index)
    }

    // MARK: The first line

    /// Parses the first line; returns false if it is incomplete.
    private mutating func scanStartLine(_ bytes: Span<UInt8>, _ available: Int) throws(HTTPError) -> Bool {
        if progress.position == 0, kind == .response, limits.lineBytes >= PlainLines.okCount,
            PlainLines.beginsWithOK(bytes.extracting(first: available))
        {
            progress.startLine = .response(.http11, Status(validated: 200), customReason: nil)
            beginFields(at: PlainLines.okCount &+ 2)
            return true
        }
        // The longest line with its CR and LF.
        let bound = min(available, limits.lineBytes &+ 2)
        guard
            let lineFeed = OctetScan.firstIndex(
                of: Octet.lineFeed, bytes, from: progress.position, to: bound)
        else {
            // A CR at the end may begin the line end, which the next octet decides.
            let isAtReturn = bound > 0 && bytes[bound &- 1] == Octet.carriageReturn
            try StartLineParser.checkBeginning(bytes, isAtReturn ? bound &- 1 : bound, kind)
            progress.position = bound
            // Even the octet in which the longest line would end is no LF.
            if bound > limits.lineBytes &+ 1 { throw .limitExceeded(.lineBytes, allowed: limits.lineBytes) }
            return false
        }
        var end = lineFeed
        if end > 0, bytes[end &- 1] == Octet.carriageReturn {
            end &-= 1
        } else if !leniency.contains(.bareLineFeed) {
            try StartLineParser.checkBeginning(bytes, end, kind)
            throw .bareLineFeed(offset: lineFeed)
        }
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

    /// Prepares for the field lines, the first of which begins at `position`.
    private mutating func beginFields(at position: Int) {
        progress.position = position
        progress.lineStart = position
        progress.nameEnd = position
    }
}
