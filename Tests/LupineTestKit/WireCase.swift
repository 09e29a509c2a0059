// SPDX-License-Identifier: MIT

package import LupineHTTP

/// An input from the wire, and the expected log of a codec.
///
/// Cases are written in documents, many to a file, in a readable notation:
///
///     ## a reason of two words
///     @ request HEAD
///     > HTTP/1.1 404 Not Found\r\n
///     > \r\n
///     head 1.1 404 "Not Found", no body, keep-alive
///     end
///
/// `##` names a case. `@` lines state the circumstances, `>` lines are the octets (with `\r`, `\n`, `\t`, `\\` and `\xHH`; the
/// end of the line itself is not included), and all other lines are the expected log. Lines that begin with a single `#` are
/// comments. A new case is written without its log; the failing test prints the log, to be checked and pasted.
///
/// Circumstances of responses: `request METHOD`, `upgrade` (the request asks for one), `strict`, `leniency NAME...`, `limits
/// NAME=NUMBER...`. Of requests: `limits` and `answers COUNT` (so many requests are answered with 204).
package struct WireCase: Sendable, CustomStringConvertible {
    /// The codec that reads the case.
    package enum Side: Sendable { case client, server }

    /// A malformed line of a document.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String
    }

    package let side: Side
    package let document: String
    package let name: String
    package private(set) var bytes: [UInt8] = []
    package private(set) var expected: [String] = []
    package private(set) var method = Method.get
    package private(set) var asksUpgrade = false
    package private(set) var leniency = Leniency.client
    package private(set) var limits = ParserLimits()
    package private(set) var answers = 0

    package var description: String { "\(document): \(name)" }

    /// Returns the cases of a document, in order.
    package static func cases(in text: String, document: String, side: Side) throws -> [WireCase] {
        var cases: [WireCase] = []
        var number = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            if line.isEmpty { continue }
            if line.hasPrefix("## ") {
                cases.append(WireCase(side: side, document: document, name: String(line.dropFirst(3))))
                continue
            }
            if line.hasPrefix("#") || cases.isEmpty { continue }
            do {
                try cases[cases.count - 1].parse(line)
            } catch {
                throw Malformed(description: "\(document), line \(number): \(error): \(line)")
            }
        }
        return cases
    }

    private init(side: Side, document: String, name: String) {
        self.side = side
        self.document = document
        self.name = name
    }

    /// Adds a line to the case.
    private mutating func parse(_ line: Substring) throws(Malformed) {
        if line.hasPrefix("> ") {
            bytes += try Self.octets(line.dropFirst(2))
        } else if line.hasPrefix("@ ") {
            try setCircumstance(line.dropFirst(2).split(separator: " "))
        } else {
            expected.append(String(line))
        }
    }

    private mutating func setCircumstance(_ words: [Substring]) throws(Malformed) {
        switch words.first {
        case "request" where words.count == 2:
            do { method = try Method(String(words[1])) } catch { throw Malformed(description: "no method") }
        case "upgrade": asksUpgrade = true
        case "strict": leniency = .strict
        case "leniency":
            leniency = []
            for word in words.dropFirst() { leniency.insert(try Self.tolerance(word)) }
        case "limits":
            for word in words.dropFirst() { try setLimit(word.split(separator: "=")) }
        case "answers" where words.count == 2: answers = Int(words[1]) ?? 0
        default: throw Malformed(description: "no circumstance")
        }
    }

    private static func tolerance(_ name: Substring) throws(Malformed) -> Leniency {
        switch name {
        case "bareLineFeed": .bareLineFeed
        case "obsoleteFolding": .obsoleteFolding
        case "missingReason": .missingReason
        default: throw Malformed(description: "no tolerance")
        }
    }

    private mutating func setLimit(_ pair: [Substring]) throws(Malformed) {
        guard pair.count == 2, let number = Int(pair[1]) else { throw Malformed(description: "no limit") }
        switch pair[0] {
        case "headBytes": limits.headBytes = number
        case "fieldCount": limits.fieldCount = number
        case "lineBytes": limits.lineBytes = number
        case "interimHeads": limits.interimHeads = number
        case "chunkExtensionBytes": limits.chunkExtensionBytes = number
        default: throw Malformed(description: "no limit")
        }
    }

    /// Returns the octets that a line represents.
    private static func octets(_ line: Substring) throws(Malformed) -> [UInt8] {
        var octets: [UInt8] = []
        var remaining = line.utf8
        while let octet = remaining.popFirst() {
            guard octet == UInt8(ascii: "\\") else {
                octets.append(octet)
                continue
            }
            switch remaining.popFirst() {
            case UInt8(ascii: "r"): octets.append(0x0D)
            case UInt8(ascii: "n"): octets.append(0x0A)
            case UInt8(ascii: "t"): octets.append(0x09)
            case UInt8(ascii: "\\"): octets.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "x"):
                guard let octet = UInt8(String(Substring(remaining.prefix(2))), radix: 16) else {
                    throw Malformed(description: "no octet")
                }
                octets.append(octet)
                remaining = remaining.dropFirst(2)
            default: throw Malformed(description: "no escape")
            }
        }
        return octets
    }
}
