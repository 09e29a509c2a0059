// SPDX-License-Identifier: MIT

/// The fields of a head or trailer section: ordered, with duplicates, and looked up case-insensitively (RFC 9110 §5).
///
/// It consists of one buffer of octets and one table of offsets, for any number of fields. The parser passes the octets of a head
/// unchanged; a list built field by field holds its lines in wire form, so that encoding it is one copy. Names and values are
/// always valid: `append` and `set` refuse invalid ones.
public struct Fields: Sendable {
    /// The position of one field in the octets.
    struct Entry: Sendable {
        var nameStart: UInt32
        var valueStart: UInt32
        var valueCount: UInt32
        var nameCount: UInt16
        var tag: FieldName.Tag

        /// Creates an entry. The offsets fit, because no head longer than `Fields.maximumLength` is accepted.
        @inline(__always)
        init(name: Range<Int>, value: Range<Int>, tag: FieldName.Tag) {
            nameStart = UInt32(truncatingIfNeeded: name.lowerBound)
            nameCount = UInt16(truncatingIfNeeded: name.count)
            valueStart = UInt32(truncatingIfNeeded: value.lowerBound)
            valueCount = UInt32(truncatingIfNeeded: value.count)
            self.tag = tag
        }

        /// Creates an entry from 32-bit offsets.
        @inline(__always)
        init(
            nameStart: UInt32, nameEnd: UInt32, valueStart: UInt32, valueEnd: UInt32, tag: FieldName.Tag
        ) {
            self.nameStart = nameStart
            self.nameCount = UInt16(truncatingIfNeeded: nameEnd &- nameStart)
            self.valueStart = valueStart
            self.valueCount = valueEnd &- valueStart
            self.tag = tag
        }

        @inline(__always)
        var name: Range<Int> { Int(nameStart)..<(Int(nameStart) &+ Int(nameCount)) }
        @inline(__always)
        var value: Range<Int> { Int(valueStart)..<(Int(valueStart) &+ Int(valueCount)) }
    }

    /// The maximum length of a name in an entry.
    static let maximumNameLength = Int(UInt16.max)
    /// The maximum number of octets that an entry's offsets can address.
    static let maximumLength = Int(UInt32.max)

    private(set) var octets: [UInt8]
    private(set) var entries: [Entry]
    /// Whether `octets` is exactly the lines `name: value CRLF` of `entries`, in order.
    private var isWireForm: Bool
    /// The marks of all tags in `entries`: a name whose mark is missing is not searched for.
    private var marks: FieldName.Marks

    /// No fields.
    public init() {
        octets = []
        entries = []
        isWireForm = true
        marks = []
    }

    /// The fields that a parser found in the octets of a head.
    init(parsed octets: consuming [UInt8], entries: consuming [Entry]) {
        self.octets = octets
        marks = []
        let table = entries.span
        for index in table.indices { marks.insert(table[index].tag.mark) }
        self.entries = entries
        isWireForm = false
    }

    /// An empty list whose fields are in `octets`. The caller then adds the position of each with `appendEntry`, which copies no
    /// octet; `count` is their number.
    package init(over octets: consuming [UInt8], reservingEntries count: Int) {
        self.octets = octets
        entries = []
        entries.reserveCapacity(count)
        isWireForm = false
        marks = []
    }

    /// Adds the field whose name and value are at these ranges of the octets. The caller has validated them (`FieldName.isName`,
    /// `isValue`), and excluded blanks around the value.
    package mutating func appendEntry(name: Range<Int>, value: Range<Int>) {
        let tag = FieldName.Tag(octets.span, name.lowerBound, name.upperBound)
        entries.append(Entry(name: name, value: value, tag: tag))
        marks.insert(tag.mark)
    }

    /// The number of fields, including duplicates.
    public var count: Int { entries.count }
    /// Whether there are no fields.
    public var isEmpty: Bool { entries.isEmpty }

    /// The number of octets of all names and values together.
    package var textCount: Int { entries.reduce(0) { $0 + $1.name.count + $1.value.count } }

    // MARK: Looking up

    /// The value of the first field of that name.
    public subscript(name: FieldName) -> String? {
        guard let index = firstIndex(of: name) else { return nil }
        return value(at: index)
    }

    /// The values of all fields of that name, in order, one per line.
    public func values(of name: FieldName) -> [String] {
        indices(of: name).map { value(at: $0) }
    }

    /// Whether there is a field of that name.
    public func contains(_ name: FieldName) -> Bool { firstIndex(of: name) != nil }

    /// The name at a position, as spelled.
    public func name(at index: Int) -> String { octets.span.text(entries[index].name) }

    /// The value at a position: as UTF-8 if it is valid, Latin-1 otherwise.
    public func value(at index: Int) -> String { octets.span.text(entries[index].value) }

    /// The name at a position, for use with another list.
    package func fieldName(at index: Int) -> FieldName {
        FieldName(validated: octets.span, entries[index].name)
    }

    /// Calls `body` with the octets of the name at a position.
    package func withName<Result, Failure: Error>(
        at index: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(octets.span.extracting(entries[index].name))
    }

    /// Calls `body` with the octets of the value at a position.
    package func withValue<Result, Failure: Error>(
        at index: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(octets.span.extracting(entries[index].value))
    }

    /// Calls `body` with the octets of the first value of that name, or returns nil.
    package func withFirstValue<Result, Failure: Error>(
        of name: FieldName, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let index = firstIndex(of: name) else { return nil }
        return try withValue(at: index, body)
    }

    /// Returns the position of the first field of that name at or after `start`.
    package func firstIndex(of name: FieldName, from start: Int = 0) -> Int? {
        guard marks.contains(name.tag.mark) else { return nil }
        let table = entries.span
        let bytes = octets.span
        let count = name.octets.count
        for index in start..<max(start, table.count) {
            let entry = table[index]
            if entry.tag == name.tag, Int(entry.nameCount) == count,
                name.matches(bytes, Int(entry.nameStart))
            {
                return index
            }
        }
        return nil
    }

    /// False if no field frames a message, names its host or concerns its connection; true if one may do so. It is false for
    /// nearly every list that is sent, and one pass over the tags then saves a search for each name.
    package var mayContainConnectionFields: Bool {
        if marks.isDisjoint(with: .connectionFields) { return false }
        let table = entries.span
        for index in table.indices {
            switch table[index].tag {
            case .contentLength, .transferEncoding, .connection, .host, .upgrade: return true
            default: break
            }
        }
        return false
    }

    /// Returns the positions of all fields of that name, in order.
    package func indices(of name: FieldName) -> [Int] {
        var found: [Int] = []
        var next = firstIndex(of: name)
        while let index = next {
            found.append(index)
            next = firstIndex(of: name, from: index + 1)
        }
        return found
    }

    // MARK: Changing

    /// Appends a field. Blanks around the value are removed; a control character in it throws `HTTPError.invalidValueToSend`.
    public mutating func append(_ name: FieldName, _ value: String) throws(HTTPError) {
        try append(name, value.utf8.span)
    }

    /// Whether a field value is valid, apart from blanks around it: it has no control characters.
    package static func isValue(_ value: Span<UInt8>) -> Bool {
        OctetScan.endOfValue(value, from: 0, to: value.count) == value.count
    }

    /// Reserves capacity for `count` fields, whose lines have `octetCount` octets in total.
    package mutating func reserve(fields count: Int, octets octetCount: Int) {
        entries.reserveCapacity(count)
        octets.reserveCapacity(octetCount)
    }

    /// Appends a field with a value given as octets.
    package mutating func append(_ name: FieldName, _ value: Span<UInt8>) throws(HTTPError) {
        let end = OctetScan.endOfValue(value, from: 0, to: value.count)
        guard end == value.count else {
            throw .invalidValueToSend(name: Excerpt(name.octets.span), octet: value[end])
        }
        makeWireForm()
        let range = value.trimmed(0..<value.count)
        // The line has four more octets: a colon, a space, CR and LF.
        guard octets.count + name.octets.count + range.count + 4 <= Self.maximumLength else {
            throw .limitExceeded(.headBytes, allowed: Self.maximumLength)
        }
        appendLine(name.octets.span, 0..<name.octets.count, name.tag, value, range)
    }

    /// Sets the value of the first field of that name, or appends one, and removes the others of that name. Throws like `append`.
    public mutating func set(_ name: FieldName, _ value: String) throws(HTTPError) {
        guard let position = firstIndex(of: name) else { return try append(name, value) }
        var replacement = Fields()
        try replacement.append(name, value)
        self = rebuilt { index, list in
            if index == position {
                list.appendLine(of: replacement, at: 0)
            } else if !matches(name, at: index) {
                list.appendLine(of: self, at: index)
            }
        }
    }

    /// Removes all fields of that name.
    public mutating func remove(_ name: FieldName) {
        guard contains(name) else { return }
        self = rebuilt { index, list in
            if !matches(name, at: index) { list.appendLine(of: self, at: index) }
        }
    }

    /// Removes all fields of these names, in one pass.
    package mutating func remove(_ names: Set<FieldName>) {
        self = rebuilt { index, list in
            if !names.contains(fieldName(at: index)) { list.appendLine(of: self, at: index) }
        }
    }

    /// Appends all fields of another list.
    public mutating func append(contentsOf other: Fields) {
        makeWireForm()
        for index in other.entries.indices { appendLine(of: other, at: index) }
    }

    /// Writes the lines, each with its CRLF.
    func encode(into output: inout [UInt8]) {
        guard !isWireForm else { return output.append(contentsOf: octets) }
        var lines = self
        lines.makeWireForm()
        output.append(contentsOf: lines.octets)
    }

    private func matches(_ name: FieldName, at index: Int) -> Bool {
        let entry = entries[index]
        return entry.tag == name.tag && Int(entry.nameCount) == name.octets.count
            && name.matches(octets.span, Int(entry.nameStart))
    }

    /// Rebuilds the list in wire form unless it has that form.
    private mutating func makeWireForm() {
        if !isWireForm { self = rebuilt { index, list in list.appendLine(of: self, at: index) } }
    }

    /// Returns a list in wire form. Calls `appendField` for each position; it appends a field to the list, or none.
    private func rebuilt(_ appendField: (Int, inout Fields) -> Void) -> Fields {
        var list = Fields()
        list.reserve(fields: entries.count, octets: octets.count)
        for index in entries.indices { appendField(index, &list) }
        return list
    }

    private mutating func appendLine(of other: Fields, at index: Int) {
        let entry = other.entries[index]
        appendLine(other.octets.span, entry.name, entry.tag, other.octets.span, entry.value)
    }

    private mutating func appendLine(
        _ names: Span<UInt8>, _ name: Range<Int>, _ tag: FieldName.Tag,
        _ values: Span<UInt8>, _ value: Range<Int>
    ) {
        let start = octets.count
        octets.append(names, name)
        octets.append(Octet.colon)
        octets.append(Octet.space)
        let valueStart = octets.count
        octets.append(values, value)
        let valueEnd = octets.count
        octets.append(Octet.carriageReturn)
        octets.append(Octet.lineFeed)
        entries.append(Entry(name: start..<(start + name.count), value: valueStart..<valueEnd, tag: tag))
        marks.insert(tag.mark)
    }
}

/// Lists are equal if they have the same fields in the same order; names compare case-insensitively, values by octet.
extension Fields: Hashable {
    public static func == (left: Fields, right: Fields) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.entries.indices {
            guard left.matches(right.fieldName(at: index), at: index) else { return false }
            let leftValue = left.octets[left.entries[index].value]
            let rightValue = right.octets[right.entries[index].value]
            guard leftValue == rightValue else { return false }
        }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        for entry in entries {
            for octet in octets[entry.name] { hasher.combine(Octet.lowercased(octet)) }
            hasher.combine(octets[entry.value])
        }
    }
}

/// Describes only the names, because values may be secrets.
extension Fields: CustomStringConvertible {
    public var description: String {
        "[" + entries.indices.map { name(at: $0) }.joined(separator: ", ") + "]"
    }
}
