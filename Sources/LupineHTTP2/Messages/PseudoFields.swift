// SPDX-License-Identifier: MIT

import LupineHTTP

/// The pseudo-fields at the start of a header list: RFC 9113 §8.3.
struct PseudoFields {
    /// The kind of header list; each kind has its own pseudo-fields.
    enum Section {
        case request, response, trailers
    }

    /// The known pseudo-fields; RFC 8441 defines `protocol`. The raw value is the position in `values`.
    enum Name: Int {
        case method, scheme, authority, path, `protocol`, status
    }

    private let section: Section
    /// The range in the list's octets of the value of each pseudo-field; nil if it is absent.
    private var values = InlineArray<6, Range<Int>?>(repeating: nil)
    /// The number of pseudo-fields, which is also the position of the first regular field.
    private(set) var count = 0

    /// Finds the pseudo-fields of a list. Throws if one is unknown, not allowed in the section, repeated, or invalid.
    init(_ list: HeaderList, in section: Section) throws(MessageError) {
        self.section = section
        let octets = list.octets.span
        while count < list.count {
            let name = octets.extracting(list.nameRange(at: count))
            // The name of a pseudo-field begins with a colon, 0x3A.
            guard !name.isEmpty, name[0] == 0x3A else { break }
            let value = list.valueRange(at: count)
            guard let knownName = Self.knownName(name, in: section) else {
                throw .unexpectedPseudoField(Excerpt(name))
            }
            guard values[knownName.rawValue] == nil else { throw .repeatedPseudoField(Excerpt(name)) }
            guard FieldRule.isValue(octets.extracting(value)) else {
                throw .invalidValue(name: Excerpt(name))
            }
            values[knownName.rawValue] = value
            count &+= 1
        }
    }

    /// The range in the list's octets of the value of a pseudo-field; nil if it is absent.
    subscript(_ name: Name) -> Range<Int>? { values[name.rawValue] }

    /// Returns the pseudo-field with a name; nil if this kind of header list has none of that name.
    private static func knownName(_ name: Span<UInt8>, in section: Section) -> Name? {
        switch section {
        case .request:
            if name.isText(":method") { return .method }
            if name.isText(":scheme") { return .scheme }
            if name.isText(":authority") { return .authority }
            if name.isText(":path") { return .path }
            if name.isText(":protocol") { return .protocol }
        case .response:
            if name.isText(":status") { return .status }
        case .trailers:
            break
        }
        return nil
    }

    /// Returns the fields after the pseudo-fields. Several `cookie` fields are joined into one, as in HTTP/1.1 (§8.2.3). Throws
    /// if a field is invalid.
    func fields(of list: HeaderList) throws(MessageError) -> Fields {
        // The fields share the octets of the list.
        var fields = Fields(over: list.octets, reservingEntries: list.count &- count)
        var cookies: [UInt8]?
        let octets = list.octets.span
        for index in count..<list.count {
            let (nameRange, valueRange) = list.ranges(at: index)
            let name = octets.extracting(nameRange)
            let value = octets.extracting(valueRange)
            // A colon: this is a pseudo-field too.
            if !name.isEmpty, name[0] == 0x3A { throw .misplacedPseudoField(Excerpt(name)) }
            try FieldRule.validate(name: name, value: value, in: section)
            if name.count == 6, name.isText("cookie") {
                // 0x3B and 0x20 are `; `, which separates the cookies.
                var joined = cookies.map { $0 + [0x3B, 0x20] } ?? []
                joined.append(value, value.indices)
                cookies = joined
            } else {
                fields.appendEntry(name: nameRange, value: valueRange)
            }
        }
        if let cookies { try Self.append(.cookie, cookies.span, to: &fields) }
        return fields
    }

    /// Appends a field. Throws if its value is invalid.
    static func append(
        _ name: FieldName, _ value: Span<UInt8>, to fields: inout Fields
    ) throws(MessageError) {
        do throws(HTTPError) { try fields.append(name, value) } catch {
            throw .invalidValue(name: Excerpt(name.description))
        }
    }
}
