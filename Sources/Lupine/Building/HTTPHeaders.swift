// SPDX-License-Identifier: MIT

/// The header fields of a request or a response, in order. Names are case-insensitive, and each occurs only once.
///
/// If a message has several fields of one name, their values have to be joined before they are stored. Names and values are not
/// validated. Two collections are equal only if the order of their fields and the spelling of their names are equal too.
public struct HTTPHeaders: Equatable, Hashable, Sendable {
    /// The fields that a session of default configuration sends with each request: `Accept-Encoding`, `Accept-Language` and
    /// `User-Agent`. `Accept-Language` is omitted if the locale names no language. Computed once.
    public static let `default` = HTTPHeaders(
        [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent].filter { !$0.value.isEmpty })

    private var headers: [HTTPHeader] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection of these fields, each added as by `update(_:)`.
    public init(_ headers: [HTTPHeader]) { add(headers) }

    /// Creates a collection of these fields, each added as by `update(name:value:)`, in no particular order.
    public init(_ dictionary: [String: String]) {
        add(dictionary.map { HTTPHeader(name: $0.key, value: $0.value) })
    }

    /// Adds many fields at once, without a linear search for each.
    private mutating func add(_ headers: [HTTPHeader]) {
        var positions: [String: Int] = [:]
        self.headers.reserveCapacity(headers.count)
        for header in headers {
            let name = header.name.lowercased()
            if let position = positions[name] {
                self.headers[position] = header
            } else {
                positions[name] = self.headers.count
                self.headers.append(header)
            }
        }
    }

    // MARK: changing

    /// The same as `update(name:value:)`.
    public mutating func add(name: String, value: String) { update(name: name, value: value) }

    /// The same as `update(_:)`.
    public mutating func add(_ header: HTTPHeader) { update(header) }

    /// Replaces the field of that name, ignoring case, or appends a new one.
    public mutating func update(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Replaces the field of that name, ignoring case, or appends a new one.
    public mutating func update(_ header: HTTPHeader) {
        if let index = headers.index(of: header.name) {
            headers[index] = header
        } else {
            headers.append(header)
        }
    }

    /// Removes the field of that name, ignoring case, if there is one.
    public mutating func remove(name: String) {
        if let index = headers.index(of: name) { headers.remove(at: index) }
    }

    /// Sorts the fields by name, ignoring case.
    public mutating func sort() {
        headers.sort { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// Returns the fields sorted by name, ignoring case.
    public func sorted() -> HTTPHeaders {
        var sorted = self
        sorted.sort()
        return sorted
    }

    // MARK: reading

    /// Returns the value of the field of that name, ignoring case.
    public func value(for name: String) -> String? {
        headers.index(of: name).map { headers[$0].value }
    }

    /// The value of the field of that name, ignoring case. Setting nil removes the field.
    public subscript(_ name: String) -> String? {
        get { value(for: name) }
        set {
            if let newValue {
                update(name: name, value: newValue)
            } else {
                remove(name: name)
            }
        }
    }

    /// The values by name. A name is spelled as in the latest update of its field.
    public var dictionary: [String: String] {
        // Names are unique, so the closure is never called.
        Dictionary(headers.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates a collection of these fields in their order. If a name occurs more than once, its last value is used, at the
    /// position of the first.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { update(name: name, value: value) }
    }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    /// Creates a collection of these fields in their order. If a name occurs more than once, its last value is used, at the
    /// position of the first.
    public init(arrayLiteral elements: HTTPHeader...) { self.init(elements) }
}

extension HTTPHeaders: Sequence {
    /// Returns an iterator over the fields in their order.
    public func makeIterator() -> IndexingIterator<[HTTPHeader]> { headers.makeIterator() }
}

extension HTTPHeaders: Collection {
    /// The position of the first field.
    public var startIndex: Int { headers.startIndex }

    /// The position after the last field.
    public var endIndex: Int { headers.endIndex }

    /// The field at a position.
    public subscript(position: Int) -> HTTPHeader { headers[position] }

    /// Returns the next position.
    public func index(after index: Int) -> Int { headers.index(after: index) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields one per line, in their order.
    public var description: String { headers.map(\.description).joined(separator: "\n") }
}

extension [HTTPHeader] {
    /// Returns the position of the field of that name, ignoring case.
    func index(of name: String) -> Int? {
        firstIndex { Self.areEqualNames($0.name, name) }
    }

    /// Whether two names are equal, ignoring case. ASCII names, the usual ones, are compared without creating lower-case copies.
    private static func areEqualNames(_ left: String, _ right: String) -> Bool {
        let (leftOctets, rightOctets) = (left.utf8, right.utf8)
        if leftOctets.count == rightOctets.count,
            leftOctets.elementsEqual(rightOctets, by: { $0 == $1 || lowercased($0) == lowercased($1) })
        {
            return true
        }
        let areASCII = leftOctets.allSatisfy { $0 < 0x80 } && rightOctets.allSatisfy { $0 < 0x80 }
        return !areASCII && left.lowercased() == right.lowercased()
    }

    /// Returns the lower-case letter for an octet from `A` to `Z`, and any other octet unchanged.
    private static func lowercased(_ octet: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= octet ? octet + 0x20 : octet
    }
}
