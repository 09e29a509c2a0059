// SPDX-License-Identifier: MIT

import LupineHTTP2

/// Header lists in the form in which `CNGHTTP2Peer` takes and returns them.
enum PackedFields {
    /// A field in the form in which both sides are compared.
    struct Field: Hashable, CustomStringConvertible {
        var name: [UInt8]
        var value: [UInt8]
        /// Whether no table may hold it (RFC 7541 §7.1.3).
        var isSensitive = false

        init(name: [UInt8], value: [UInt8], isSensitive: Bool = false) {
            (self.name, self.value, self.isSensitive) = (name, value, isSensitive)
        }

        init(_ name: String, _ value: String) { self.init(name: Array(name.utf8), value: Array(value.utf8)) }

        var description: String {
            let value = value.count > 60 ? "... of \(value.count)" : String(decoding: value, as: UTF8.self)
            return "\(String(decoding: name, as: UTF8.self)): \(value)\(isSensitive ? " (sensitive)" : "")"
        }
    }

    static func packed(_ fields: [Field]) -> [UInt8] {
        var octets: [UInt8] = []
        for field in fields {
            octets += number(field.name.count) + number(field.value.count) + [field.isSensitive ? 1 : 0]
            octets += field.name
            octets += field.value
        }
        return octets
    }

    static func fields(_ octets: [UInt8]) -> [Field] {
        var fields: [Field] = []
        var rest = octets[...]
        while rest.count >= 9 {
            let (name, value) = (number(rest.prefix(4)), number(rest.dropFirst(4).prefix(4)))
            let flags = rest[rest.startIndex + 8]
            rest = rest.dropFirst(9)
            fields.append(
                Field(
                    name: Array(rest.prefix(name)), value: Array(rest.dropFirst(name).prefix(value)),
                    isSensitive: flags == 1))
            rest = rest.dropFirst(name + value)
        }
        return fields
    }

    static func list(_ fields: [Field]) -> HeaderList {
        var list = HeaderList()
        for field in fields {
            list.append(
                name: field.name.span, value: field.value.span,
                indexing: field.isSensitive ? .never : .incremental)
        }
        return list
    }

    static func fields(_ list: HeaderList) -> [Field] {
        list.indices.map { index in
            Field(
                name: Array(list.octets[list.nameRange(at: index)]),
                value: Array(list.octets[list.valueRange(at: index)]),
                isSensitive: list.indexing(at: index) == .never)
        }
    }

    static func number(_ octets: ArraySlice<UInt8>) -> Int { octets.reduce(0) { $0 << 8 | Int($1) } }

    static func number(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
