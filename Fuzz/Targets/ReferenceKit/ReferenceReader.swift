// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The result of reading a stream that begins with a response head.
package enum Verdict: Hashable {
    case incomplete
    case refused
    case head(ParsedHead)
}

/// A response head, as a reader has parsed it.
package struct ParsedHead: Hashable {
    /// The number of octets of the head.
    package var length: Int
    package var isHTTP10: Bool
    package var status: Int
    package var reason: String
    package var names: [[UInt8]]
    package var values: [[UInt8]]
    /// Nil for an interim head.
    package var framing: BodyFraming?
    package var keepAlive: Bool?

    package init(
        length: Int, isHTTP10: Bool, status: Int, reason: String, names: [[UInt8]], values: [[UInt8]],
        framing: BodyFraming?, keepAlive: Bool?
    ) {
        self.length = length
        self.isHTTP10 = isHTTP10
        self.status = status
        self.reason = reason
        self.names = names
        self.values = values
        self.framing = framing
        self.keepAlive = keepAlive
    }
}

/// Reads a response head line by line, rule by rule, with arrays, without regard to speed: RFC 9112 §2 to §6.
///
/// It shares no code with the codec. It implements no limits, so its input must be shorter than they are.
package struct ReferenceReader {
    private let method: Method
    private let asksForUpgrade: Bool
    private let leniency: Leniency

    package init(method: Method, asksForUpgrade: Bool, leniency: Leniency) {
        self.method = method
        self.asksForUpgrade = asksForUpgrade
        self.leniency = leniency
    }

    /// Reads the head at the front of `stream`.
    package func read(_ stream: [UInt8]) -> Verdict {
        var lines: [[UInt8]] = []
        var isMalformed = false
        var start = 0
        // A head ends with the first empty line after its start line.
        while true {
            guard let feed = stream[start...].firstIndex(of: 0x0A) else { return .incomplete }
            var line = Array(stream[start..<feed])
            if line.last == 0x0D {
                line.removeLast()
            } else if !leniency.contains(.bareLineFeed) {
                isMalformed = true
            }
            // A CR outside a line end is refused everywhere (§2.2).
            if line.contains(0x0D) { isMalformed = true }
            start = feed + 1
            if !lines.isEmpty && line.isEmpty { break }
            lines.append(line)
        }
        guard !isMalformed, let status = statusLine(lines[0]), let fields = fields(lines.dropFirst()) else {
            return .refused
        }
        var head = ParsedHead(
            length: start, isHTTP10: status.isHTTP10, status: status.code, reason: text(status.reason),
            names: fields.map { $0.name }, values: fields.map { $0.value }, framing: nil, keepAlive: nil)
        if head.status == 101 && !asksForUpgrade { return .refused }
        guard let framing = ReferenceFraming(head, to: method).verdict else { return .refused }
        if head.status / 100 == 1 && head.status != 101 { return .head(head) }
        head.framing = framing.framing
        head.keepAlive = framing.keepAlive
        return .head(head)
    }

    // HTTP-version SP 3DIGIT SP [ reason-phrase ], §4.
    private func statusLine(_ line: [UInt8]) -> (isHTTP10: Bool, code: Int, reason: [UInt8])? {
        guard line.count >= 12, Array(line[0..<7]) == Array("HTTP/1.".utf8) else { return nil }
        guard isDigit(line[7]), line[8] == 0x20, line[9...11].allSatisfy(isDigit) else { return nil }
        let code = line[9...11].reduce(0) { $0 * 10 + Int($1) - 0x30 }
        guard code >= 100 else { return nil }
        let isHTTP10 = line[7] == 0x30
        if line.count == 12 { return leniency.contains(.missingReason) ? (isHTTP10, code, []) : nil }
        let reason = Array(line[13...])
        guard line[12] == 0x20, reason.allSatisfy(isText) else { return nil }
        return (isHTTP10, code, reason)
    }

    // field-name ":" OWS field-value OWS, §5; obs-fold, §5.2.
    private func fields(_ lines: ArraySlice<[UInt8]>) -> [(name: [UInt8], value: [UInt8])]? {
        var fields: [(name: [UInt8], value: [UInt8])] = []
        for line in lines {
            if line[0] == 0x20 || line[0] == 0x09 {
                guard leniency.contains(.obsoleteFolding), let last = fields.last, line.allSatisfy(isText)
                else {
                    return nil
                }
                let more = trimmed(line)
                let space: [UInt8] = last.value.isEmpty || more.isEmpty ? [] : [0x20]
                fields[fields.count - 1].value = last.value + space + more
                continue
            }
            guard let colon = line.firstIndex(of: 0x3A) else { return nil }
            let name = Array(line[..<colon])
            let value = Array(line[(colon + 1)...])
            guard !name.isEmpty, name.allSatisfy(isTokenOctet), value.allSatisfy(isText) else { return nil }
            fields.append((name, trimmed(value)))
        }
        return fields
    }

    private func isDigit(_ octet: UInt8) -> Bool { octet >= 0x30 && octet <= 0x39 }

    // HTAB / SP / VCHAR / obs-text, RFC 9110 §5.5.
    private func isText(_ octet: UInt8) -> Bool { octet == 0x09 || (octet >= 0x20 && octet != 0x7F) }

    // tchar, RFC 9110 §5.6.2.
    private func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: Array("!#$%&'*+-.^_`|~".utf8).contains(octet)
        }
    }

    private func trimmed(_ octets: [UInt8]) -> [UInt8] {
        var octets = octets
        while octets.first == 0x20 || octets.first == 0x09 { octets.removeFirst() }
        while octets.last == 0x20 || octets.last == 0x09 { octets.removeLast() }
        return octets
    }

    private func text(_ octets: [UInt8]) -> String {
        String(validating: octets, as: UTF8.self)
            ?? String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }
}
