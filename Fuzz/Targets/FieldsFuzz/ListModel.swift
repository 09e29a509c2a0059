// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// A reference parser of lists (RFC 9110 §5.6), which works on arrays, and compares its results with those of `ListSyntax`.
struct ListModel {
    private let value: [UInt8]

    init(_ value: [UInt8]) { self.value = value }

    func check() {
        let span = value.span
        var elements: [Range<Int>] = []
        ListSyntax.forEachElement(in: span) { elements.append($0) }
        let expected = parts(of: value, at: 0x2C).filter { !$0.isEmpty }
        require(elements.map { Array(value[$0]) } == expected, "other elements: \(elements)")
        for (range, element) in zip(elements, expected) { check(range, element) }
        let isClose = expected.contains { lowercased($0) == Array("close".utf8) }
        require(ListSyntax.contains("close", in: span) == isClose, "contains disagrees")
    }

    private func check(_ range: Range<Int>, _ element: [UInt8]) {
        let span = value.span
        var parts = parts(of: element, at: 0x3B)
        let principal = parts.removeFirst()
        require(
            Array(value[ListSyntax.valueWithoutParameters(of: range, in: span)]) == principal,
            "another principal")
        var expected: [(name: [UInt8], value: [UInt8])] = []
        for part in parts.prefix(ListSyntax.elementLimit) {
            let sides = part.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = sides.first, !trimmed(Array(first)).isEmpty else { continue }
            expected.append(
                (trimmed(Array(first)), sides.count > 1 ? unquoted(trimmed(Array(sides[1]))) : []))
        }
        var names: [String] = []
        var values: [String] = []
        ListSyntax.forEachParameter(of: range, in: span) { name, value in
            names.append(name)
            values.append(value)
        }
        require(names == expected.map { text($0.name) }, "other parameters: \(names)")
        require(values == expected.map { text($0.value) }, "other values: \(values)")
        let quality = expected.first { lowercased($0.name) == [0x71] }
        let weight = quality.map { self.weight($0.value) } ?? 1_000
        require(
            ListSyntax.weight(of: range, in: span) == weight,
            "another weight than \(String(describing: weight))")
    }

    /// Returns a weight in thousandths: ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ), RFC 9110 §12.4.2.
    private func weight(_ octets: [UInt8]) -> Int? {
        let text = text(octets)
        for thousandths in 0...1_000 {
            let digits = String(thousandths + 10_000).suffix(3)
            var spellings = [String(thousandths / 1_000) + "." + digits]
            while let last = spellings.last, last.hasSuffix("0") || last.hasSuffix(".") {
                if last.count == 1 { break }
                spellings.append(String(last.dropLast()))
            }
            if spellings.contains(text) { return thousandths }
        }
        return nil
    }

    /// Returns the parts between separators outside quoted strings, trimmed.
    private func parts(of octets: [UInt8], at separator: UInt8) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var part: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for octet in octets {
            if !isQuoted && octet == separator {
                parts.append(trimmed(part))
                part = []
                continue
            }
            part.append(octet)
            if isEscaped {
                isEscaped = false
            } else if isQuoted && octet == 0x5C {
                isEscaped = true
            } else if octet == 0x22 {
                isQuoted.toggle()
            }
        }
        return parts + [trimmed(part)]
    }

    private func unquoted(_ octets: [UInt8]) -> [UInt8] {
        guard octets.first == 0x22 else { return octets }
        var result: [UInt8] = []
        var remaining = Array(octets.dropFirst())
        while let octet = remaining.first, octet != 0x22 {
            remaining.removeFirst()
            if octet == 0x5C, let escaped = remaining.first {
                remaining.removeFirst()
                result.append(escaped)
            } else {
                result.append(octet)
            }
        }
        return result
    }

    private func trimmed(_ octets: [UInt8]) -> [UInt8] {
        var octets = octets
        while octets.first == 0x20 || octets.first == 0x09 { octets.removeFirst() }
        while octets.last == 0x20 || octets.last == 0x09 { octets.removeLast() }
        return octets
    }

    private func lowercased(_ octets: [UInt8]) -> [UInt8] {
        octets.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }
    }

    private func text(_ octets: [UInt8]) -> String {
        String(validating: octets, as: UTF8.self)
            ?? String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }
}
