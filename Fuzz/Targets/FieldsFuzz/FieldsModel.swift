// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// A field list and an array of pairs that undergo the same operations.
struct FieldsModel {
    private typealias Pair = (name: [UInt8], value: [UInt8])

    private var fields = Fields()
    private var pairs: [Pair] = []

    /// Performs one operation of the fuzzer's choice.
    mutating func step(_ input: inout FuzzInput) {
        let choice = input.readOctet()
        if choice & 0x0F == 0x0F { return adopt(&input) }
        guard let name = name(&input) else { return }
        switch choice & 7 {
        case 0, 1, 2: append(name, input.readPiece())
        case 3: set(name, input.readPiece())
        case 4:
            fields.remove(name.name)
            pairs.removeAll { Self.lowercased($0.name) == Self.lowercased(name.octets) }
        case 5:
            let copy = fields
            fields.append(contentsOf: copy)
            pairs += pairs
            if pairs.count > 500 { (fields, pairs) = (Fields(), []) }
        case 6: lookUp(name)
        default: compareNames(name, &input)
        }
        compare()
    }

    // MARK: operations

    private mutating func append(_ name: (name: FieldName, octets: [UInt8]), _ value: [UInt8]) {
        do {
            try fields.append(name.name, value.span)
            require(value.allSatisfy(Self.isText), "a value with a control character was taken")
            pairs.append((name.octets, Self.trimmed(value)))
        } catch {
            require(!value.allSatisfy(Self.isText), "a value was refused: \(error)")
        }
    }

    private mutating func set(_ name: (name: FieldName, octets: [UInt8]), _ octets: [UInt8]) {
        let text = String(decoding: octets, as: UTF8.self)
        let value = Array(text.utf8)
        do {
            try fields.set(name.name, text)
            require(value.allSatisfy(Self.isText), "a value with a control character was taken")
        } catch {
            require(!value.allSatisfy(Self.isText), "a value was refused: \(error)")
            return
        }
        let lowercasedName = Self.lowercased(name.octets)
        let index = pairs.firstIndex { Self.lowercased($0.name) == lowercasedName }
        if let index { pairs[index] = (name.octets, []) }
        var isFirst = true
        pairs.removeAll { pair in
            guard Self.lowercased(pair.name) == lowercasedName else { return false }
            defer { isFirst = false }
            return !isFirst
        }
        let pair = (name.octets, Self.trimmed(value))
        if let index { pairs[index] = pair } else { pairs.append(pair) }
    }

    /// Replaces the list by one that a parser has made from the pairs so far and one more line.
    private mutating func adopt(_ input: inout FuzzInput) {
        var wire = Array("HTTP/1.1 200 OK\r\n".utf8)
        for pair in pairs { wire += pair.name + [0x3A, 0x09] + pair.value + [0x20, 0x0D, 0x0A] }
        wire += Array("X-More:".utf8) + input.readPiece().filter(Self.isText) + Array("\r\n\r\n".utf8)
        do {
            var codec = ClientCodec()
            var out: [UInt8] = []
            let request = RequestHead(method: .get, target: .origin("/"), version: .http10)
            try codec.send(request, body: .none, into: &out)
            let (event, _) = try codec.next(wire.span)
            guard case .head(let head, _, _) = event else { return }
            require(head.fields.count == pairs.count + 1, "\(head.fields.count) fields of \(pairs.count + 1)")
            let more = head.fields.withValue(at: pairs.count) { span in span.indices.map { span[$0] } }
            fields = head.fields
            pairs.append((Array("X-More".utf8), more))
            compare()
        } catch {
            // Contradictory framing fields, or an upgrade that was not requested.
            require(error.fault == .remote, "\(error) for a response")
        }
    }

    private func lookUp(_ name: (name: FieldName, octets: [UInt8])) {
        let lowercasedName = Self.lowercased(name.octets)
        let places = pairs.indices.filter { Self.lowercased(pairs[$0].name) == lowercasedName }
        require(fields.indices(of: name.name) == places, "other positions")
        require(fields.contains(name.name) == !places.isEmpty, "contains disagrees")
        require(fields.values(of: name.name).count == places.count, "another number of values")
        require((fields[name.name] == nil) == places.isEmpty, "the subscript disagrees")
        for start in 0...(pairs.count + 1) {
            let expected = places.first { $0 >= start }
            require(
                fields.firstIndex(of: name.name, from: start) == expected, "another position from \(start)")
        }
    }

    private func compareNames(_ name: (name: FieldName, octets: [UInt8]), _ input: inout FuzzInput) {
        guard let other = self.name(&input) else { return }
        let areEqual = Self.lowercased(name.octets) == Self.lowercased(other.octets)
        require((name.name == other.name) == areEqual, "names compare otherwise")
        if areEqual {
            require(name.name.hashValue == other.name.hashValue, "equal names with unequal hashes")
        }
    }

    // MARK: comparing

    private func compare() {
        require(
            fields.count == pairs.count && fields.isEmpty == pairs.isEmpty,
            "\(fields.count) of \(pairs.count)")
        var rebuilt = Fields()
        for (index, pair) in pairs.enumerated() {
            require(Array(fields.name(at: index).utf8) == pair.name, "another name at \(index)")
            let value = fields.withValue(at: index) { span in span.indices.map { span[$0] } }
            require(value == pair.value, "another value at \(index)")
            copy(pair.value, fields.fieldName(at: index), to: &rebuilt)
        }
        require(rebuilt == fields, "a copy field by field is not equal")
        require(rebuilt.hashValue == fields.hashValue, "equal lists with unequal hashes")
    }

    /// Appends a field that another list contains.
    private func copy(_ value: [UInt8], _ name: FieldName, to list: inout Fields) {
        do { try list.append(name, value.span) } catch {
            require(false, "a field that is there was refused: \(error)")
        }
    }

    /// Returns a well-known name in varied case, or any other one; nil if it is not a token.
    private func name(_ input: inout FuzzInput) -> (name: FieldName, octets: [UInt8])? {
        let choice = input.readOctet()
        let known = [
            "Content-Length", "Connection", "ETag", "X-A", "Transfer-Encoding", "Set-Cookie", "Host", "a",
        ]
        var octets = choice & 0x80 != 0 ? input.readPiece() : Array(known[Int(choice & 7)].utf8)
        if choice & 8 != 0 { octets = Self.lowercased(octets) }
        let text = String(decoding: octets, as: UTF8.self)
        octets = Array(text.utf8)
        let isToken = !octets.isEmpty && octets.allSatisfy(Self.isTokenOctet)
        do {
            let name = try FieldName(text)
            require(isToken, "a name that is no token was taken: \(text)")
            return (name, octets)
        } catch {
            require(!isToken, "a token was refused: \(error)")
            return nil
        }
    }

    private static func lowercased(_ octets: [UInt8]) -> [UInt8] {
        octets.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }
    }

    private static func isText(_ octet: UInt8) -> Bool { octet == 0x09 || (octet >= 0x20 && octet != 0x7F) }

    private static func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: Array("!#$%&'*+-.^_`|~".utf8).contains(octet)
        }
    }

    private static func trimmed(_ octets: [UInt8]) -> [UInt8] {
        var octets = octets
        while octets.first == 0x20 || octets.first == 0x09 { octets.removeFirst() }
        while octets.last == 0x20 || octets.last == 0x09 { octets.removeLast() }
        return octets
    }
}
