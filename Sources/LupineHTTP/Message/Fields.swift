// SPDX-License-Identifier: MIT

/// The fields of a head or trailer section, in order. A name may occur several times, and is looked up case-insensitively (RFC
/// 9110 §5).
///
/// However many fields there are, the list has one array of octets and one array of their positions. A list from a parser
/// contains the octets of the head as received. A list built field by field contains its lines in wire form, so that encoding it
/// is one copy. Names and values are always valid: `append` and `set` refuse invalid ones.
public struct Fields: Sendable {
    /// The positions of the name and the value of one field in `octets`, and its name's tag. All counts are in octets.
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

        /// The range of the name in `octets`.
        @inline(__always)
        var name: Range<Int> { Int(nameStart)..<(Int(nameStart) &+ Int(nameCount)) }
        /// The range of the value in `octets`.
        @inline(__always)
        var value: Range<Int> { Int(valueStart)..<(Int(valueStart) &+ Int(valueCount)) }
    }

    /// The maximum length of a name in octets: an entry stores it in 16 bits.
    static let maximumNameLength = Int(UInt16.max)
    /// The maximum number of octets in a list: an entry stores offsets of 32 bits.
    static let maximumLength = Int(UInt32.max)

    /// The octets that contain the names and values.
    private(set) var octets: [UInt8]
    /// The position of each field in `octets`, in order.
    private(set) var entries: [Entry]
    /// Whether `octets` consists exactly of the lines `name: value CRLF` of `entries`, in order.
    private var isWireForm: Bool
    /// The tags of all names in `entries`. A name whose tag is not in the filter need not be searched for.
    private var tagFilter: FieldName.TagFilter

    /// Creates an empty list.
    public init() {
        octets = []
        entries = []
        isWireForm = true
        tagFilter = []
    }

    /// Creates the list of the fields that a parser has found in the octets of a head.
    init(parsed octets: consuming [UInt8], entries: consuming [Entry]) {
        self.octets = octets
        tagFilter = []
        let table = entries.span
        for index in table.indices { tagFilter.insert(table[index].tag.filter) }
        self.entries = entries
        isWireForm = false
    }

    /// Creates an empty list over `octets`, which contain the names and values of `count` fields. The caller then adds the
    /// positions of each field with `appendEntry`, which copies no octets.
    package init(over octets: consuming [UInt8], reservingEntries count: Int) {
        self.octets = octets
        entries = []
        entries.reserveCapacity(count)
        isWireForm = false
        tagFilter = []
    }

    /// Adds the field whose name and value are in these ranges of the octets. The caller has validated them with
    /// `FieldName.isName` and `isValue`, and excluded blanks around the value.
    package mutating func appendEntry(name: Range<Int>, value: Range<Int>) {
        let tag = FieldName.Tag(octets.span, name.lowerBound, name.upperBound)
        entries.append(Entry(name: name, value: value, tag: tag))
        tagFilter.insert(tag.filter)
    }

    /// The number of fields, including duplicates.
    public var count: Int { entries.count }
    /// Whether there are no fields.
    public var isEmpty: Bool { entries.isEmpty }

    /// The number of octets of all names and values together.
    package var textCount: Int { entries.reduce(0) { $0 + $1.name.count + $1.value.count } }

    // MARK: Looking up

    /// The value of the first field of that name, or nil.
    public subscript(name: FieldName) -> String? {
        guard let index = firstIndex(of: name) else { return nil }
        return value(at: index)
    }

    /// The values of all fields of that name, in order, one per line.
    public func values(of name: FieldName) -> [String] {
        indices(of: name).map { value(at: $0) }
    }

    /// Whether the list contains a field of that name.
    public func contains(_ name: FieldName) -> Bool { firstIndex(of: name) != nil }

    /// The name at a position, as spelled.
    public func name(at index: Int) -> String { octets.span.text(entries[index].name) }

    /// The value at a position: decoded as UTF-8 if it is valid UTF-8 without long runs of combining characters, otherwise as
    /// Latin-1.
    public func value(at index: Int) -> String { octets.span.text(entries[index].value) }

    /// The name at a position, as a copy that is independent of this list.
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

    /// Calls `body` with the octets of the first value of that name, and returns its result. Returns nil if there is no such
    /// field.
    package func withFirstValue<Result, Failure: Error>(
        of name: FieldName, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let index = firstIndex(of: name) else { return nil }
        return try withValue(at: index, body)
    }

    /// Returns the position of the first field of that name at or after `start`, or nil.
    package func firstIndex(of name: FieldName, from start: Int = 0) -> Int? {
        guard tagFilter.contains(name.tag.filter) else { return nil }
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

    /// False if the list contains no `Content-Length`, `Transfer-Encoding`, `Connection`, `Host` or `Upgrade`. True if it may
    /// contain one of them: only the tags are compared, which other names may share. For nearly all lists to be sent it is false,
    /// and one pass over the tags saves a search for each of the names.
    package var mayContainConnectionFields: Bool {
        if tagFilter.isDisjoint(with: .connectionFields) { return false }
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
        var indices: [Int] = []
        var next = firstIndex(of: name)
        while let index = next {
            indices.append(index)
            next = firstIndex(of: name, from: index + 1)
        }
        return indices
    }

    // MARK: Changing

    /// Appends a field. Removes blanks around the value. Throws `HTTPError.invalidValueToSend` if the value contains a control
    /// character.
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

    /// Appends a field whose value consists of these octets. Removes blanks around the value, and throws if it contains a control
    /// character.
    package mutating func append(_ name: FieldName, _ value: Span<UInt8>) throws(HTTPError) {
        let end = OctetScan.endOfValue(value, from: 0, to: value.count)
        guard end == value.count else {
            throw .invalidValueToSend(name: Excerpt(name.octets.span), octet: value[end])
        }
        // The new line is in wire form, and a list has only one form.
        convertToWireForm()
        let range = value.trimmed(0..<value.count)
        // The line has four more octets: a colon, a space, CR and LF.
        guard octets.count + name.octets.count + range.count + 4 <= Self.maximumLength else {
            throw .limitExceeded(.headBytes, allowed: Self.maximumLength)
        }
        appendLine(name.octets.span, 0..<name.octets.count, name.tag, value, range)
    }

    /// Sets the value of the first field of that name and removes the others of that name, or appends a field if there is none.
    /// Throws like `append`.
    public mutating func set(_ name: FieldName, _ value: String) throws(HTTPError) {
        guard let position = firstIndex(of: name) else { return try append(name, value) }
        var replacement = Fields()
        try replacement.append(name, value)
        self = newList { index, list in
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
        self = newList { index, list in
            if !matches(name, at: index) { list.appendLine(of: self, at: index) }
        }
    }

    /// Removes all fields whose names `other` has, and appends the fields of `other`.
    package mutating func replace(by other: Fields) {
        // A set, because a peer may send a thousand names with a long common prefix, which are slow to compare with each other.
        var names = Set<FieldName>(minimumCapacity: other.count)
        for index in 0..<other.count { names.insert(other.fieldName(at: index)) }
        self = newList { index, list in
            // Most names are not in `other`, which the filter of their tags shows without a look-up.
            let mayBeReplaced = other.tagFilter.contains(entries[index].tag.filter)
            if !mayBeReplaced || !names.contains(fieldName(at: index)) {
                list.appendLine(of: self, at: index)
            }
        }
        append(contentsOf: other)
    }

    /// Appends the field at a position of another list.
    package mutating func append(fieldOf other: Fields, at index: Int) {
        convertToWireForm()
        appendLine(of: other, at: index)
    }

    /// Appends all fields of another list.
    public mutating func append(contentsOf other: Fields) {
        convertToWireForm()
        for index in other.entries.indices { appendLine(of: other, at: index) }
    }

    /// The lines of the fields in wire form, each with its CRLF.
    package var lines: ArraySlice<UInt8> {
        if isWireForm { return octets[...] }
        if let range = rangeOfLines { return octets[range] }
        var list = self
        list.convertToWireForm()
        return list.octets[...]
    }

    /// The part of `octets` that consists of the lines in wire form, one after the other, as in nearly all received heads; nil if
    /// there is none.
    private var rangeOfLines: Range<Int>? {
        let (table, octets) = (entries.span, octets.span)
        guard !table.isEmpty else { return 0..<0 }
        let start = Int(table[0].nameStart)
        var end = start
        for index in table.indices {
            let (name, value) = (table[index].name, table[index].value)
            guard name.lowerBound == end, value.lowerBound == name.upperBound + 2,
                value.upperBound + 2 <= octets.count, octets[name.upperBound] == Octet.colon,
                octets[name.upperBound + 1] == Octet.space, octets[value.upperBound] == Octet.carriageReturn,
                octets[value.upperBound + 1] == Octet.lineFeed
            else { return nil }
            end = value.upperBound + 2
        }
        return start..<end
    }

    /// Appends the lines to `output`, each with its CRLF.
    func encode(into output: inout [UInt8]) { output.append(contentsOf: lines) }

    /// Whether the field at a position has that name.
    private func matches(_ name: FieldName, at index: Int) -> Bool {
        let entry = entries[index]
        return entry.tag == name.tag && Int(entry.nameCount) == name.octets.count
            && name.matches(octets.span, Int(entry.nameStart))
    }

    /// Converts the list to wire form unless it has that form.
    private mutating func convertToWireForm() {
        if !isWireForm { self = newList { index, list in list.appendLine(of: self, at: index) } }
    }

    /// Returns a new list in wire form. Calls `appendField` with each position of this list and with the new list, to which the
    /// closure appends the field, another one, or none.
    private func newList(_ appendField: (Int, inout Fields) -> Void) -> Fields {
        var list = Fields()
        list.reserve(fields: entries.count, octets: octets.count)
        for index in entries.indices { appendField(index, &list) }
        return list
    }

    /// Appends the field at a position of another list.
    private mutating func appendLine(of other: Fields, at index: Int) {
        let entry = other.entries[index]
        appendLine(other.octets.span, entry.name, entry.tag, other.octets.span, entry.value)
    }

    /// Appends a field in wire form. The name is in the range `name` of the octets `names`, the value in the range `value` of the
    /// octets `values`.
    private mutating func appendLine(
        _ names: Span<UInt8>, _ name: Range<Int>, _ tag: FieldName.Tag,
        _ values: Span<UInt8>, _ value: Range<Int>
    ) {
        let start = octets.count
        let valueStart = start + name.count + 2
        // One call, because each checks the capacity and whether the array is shared.
        octets.append(addingCapacity: name.count + value.count + 4) { line in
            for index in name { line.append(names[index]) }
            line.append(Octet.colon)
            line.append(Octet.space)
            for index in value { line.append(values[index]) }
            line.append(Octet.carriageReturn)
            line.append(Octet.lineFeed)
        }
        entries.append(
            Entry(
                name: start..<(start + name.count), value: valueStart..<(valueStart + value.count), tag: tag))
        tagFilter.insert(tag.filter)
    }
}

/// Two lists are equal if they have the same fields in the same order. Names are compared case-insensitively, values by their
/// octets.
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

/// The description contains only the names, because values may be secrets.
extension Fields: CustomStringConvertible {
    public var description: String {
        "[" + entries.indices.map { name(at: $0) }.joined(separator: ", ") + "]"
    }
}
