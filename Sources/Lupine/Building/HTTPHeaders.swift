// SPDX-License-Identifier: MIT

/// The header fields of a request or a response, in order: one per name, names compared in any mix of cases.
///
/// Not for fields that may stand more than once: the values of such are joined before they get here. Nothing is judged
/// here. A value type; equal only when order and spelling are equal too.
public struct HTTPHeaders: Equatable, Hashable, Sendable {
    /// What a session of default configuration sends with each request: `Accept-Encoding`, `Accept-Language` and
    /// `User-Agent`; no `Accept-Language` where the locale names no language. Computed once.
    public static let `default` = HTTPHeaders(
        [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent].filter { !$0.value.isEmpty })

    private var headers: [HTTPHeader] = []

    /// No fields.
    public init() {}

    /// These fields, each as by `update(_:)`.
    public init(_ headers: [HTTPHeader]) { add(headers) }

    /// These fields, each as by `update(name:value:)`, in no particular order.
    public init(_ dictionary: [String: String]) {
        add(dictionary.map { HTTPHeader(name: $0.key, value: $0.value) })
    }

    /// Many at once: each is not looked for among all others.
    private mutating func add(_ headers: [HTTPHeader]) {
        var places: [String: Int] = [:]
        self.headers.reserveCapacity(headers.count)
        for header in headers {
            let name = header.name.lowercased()
            if let place = places[name] {
                self.headers[place] = header
            } else {
                places[name] = self.headers.count
                self.headers.append(header)
            }
        }
    }

    // MARK: changing

    /// The same as `update(name:value:)`.
    public mutating func add(name: String, value: String) { update(name: name, value: value) }

    /// The same as `update(_:)`.
    public mutating func add(_ header: HTTPHeader) { update(header) }

    /// Puts a field in the place of the one of that name, in any mix of cases, or at the end.
    public mutating func update(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Puts a field in the place of the one of that name, in any mix of cases, or at the end.
    public mutating func update(_ header: HTTPHeader) {
        if let index = headers.index(of: header.name) {
            headers[index] = header
        } else {
            headers.append(header)
        }
    }

    /// Removes the field of that name, in any mix of cases, if there is one.
    public mutating func remove(name: String) {
        if let index = headers.index(of: name) { headers.remove(at: index) }
    }

    /// Orders the fields by name, capitals not regarded.
    public mutating func sort() {
        headers.sort { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// The fields ordered by name, capitals not regarded.
    public func sorted() -> HTTPHeaders {
        var sorted = self
        sorted.sort()
        return sorted
    }

    // MARK: reading

    /// The value of the field of that name, in any mix of cases.
    public func value(for name: String) -> String? {
        headers.index(of: name).map { headers[$0].value }
    }

    /// The value of the field of that name, in any mix of cases. Setting nil removes the field.
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

    /// The values by name, the names as they were last written.
    public var dictionary: [String: String] {
        Dictionary(headers.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// These fields in their order; of a name that is repeated, the last counts, in the place of the first.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { update(name: name, value: value) }
    }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    /// These fields in their order; of a name that is repeated, the last counts, in the place of the first.
    public init(arrayLiteral elements: HTTPHeader...) { self.init(elements) }
}

extension HTTPHeaders: Sequence {
    /// Goes over the fields in their order.
    public func makeIterator() -> IndexingIterator<[HTTPHeader]> { headers.makeIterator() }
}

extension HTTPHeaders: Collection {
    /// The place of the first field.
    public var startIndex: Int { headers.startIndex }

    /// The place after the last field.
    public var endIndex: Int { headers.endIndex }

    /// The field at a place.
    public subscript(position: Int) -> HTTPHeader { headers[position] }

    /// The next place.
    public func index(after index: Int) -> Int { headers.index(after: index) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields one per line, in their order.
    public var description: String { headers.map(\.description).joined(separator: "\n") }
}

extension [HTTPHeader] {
    /// The place of the field of that name, in any mix of cases.
    func index(of name: String) -> Int? {
        firstIndex { Self.isSame($0.name, name) }
    }

    /// Whether two names are equal when both are lower-cased. Names are ASCII in practice and need no copies for that.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        let (octets, others) = (left.utf8, right.utf8)
        if octets.count == others.count,
            octets.elementsEqual(others, by: { $0 == $1 || lowercased($0) == lowercased($1) })
        {
            return true
        }
        let isASCII = octets.allSatisfy { $0 < 0x80 } && others.allSatisfy { $0 < 0x80 }
        return !isASCII && left.lowercased() == right.lowercased()
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 {
        0x41...0x5A ~= octet ? octet + 0x20 : octet
    }
}
