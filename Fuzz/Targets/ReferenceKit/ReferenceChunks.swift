// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Reads a chunked body octet by octet from a complete array: RFC 9112 §7.1.
///
/// It shares no code with the codec and keeps no state between octets except its position.
package struct ReferenceChunks {
    private let limits: ParserLimits

    package init(limits: ParserLimits) { self.limits = limits }

    /// Returns the outcome of the body at the front of `body`.
    package func read(_ body: [UInt8]) -> ChunkOutcome {
        var outcome = ChunkOutcome()
        var position = 0
        var extensionOctets = 0
        while true {
            // 1*HEXDIG
            var digits: [UInt8] = []
            while position < body.count, let digit = hexadecimal(body[position]) {
                digits.append(digit)
                guard digits.count <= 16, size(digits) != nil else { return outcome.ending(.overflow) }
                position += 1
            }
            guard position < body.count else { return outcome }
            guard !digits.isEmpty, let size = size(digits) else { return outcome.ending(.size) }
            // [ BWS chunk-ext ], of which every octet is counted.
            var isExtension = false
            while position < body.count,
                body[position] != 0x0D || (!isExtension && isBlank(body[position - 1]))
            {
                let octet = body[position]
                let isLegal = isExtension ? octet == 0x09 || octet >= 0x20 && octet != 0x7F : true
                if !isExtension && !isBlank(octet) && octet != 0x3B {
                    // A blank without a semicolon after it has been counted; the octet in place of the semicolon counts, too.
                    if isBlank(body[position - 1]) {
                        extensionOctets += 1
                        if isOver(extensionOctets, outcome) { return outcome.ending(.extensionLimit) }
                    }
                    return outcome.ending(.size)
                }
                guard isLegal else { return outcome.ending(.extensionOctet) }
                if octet == 0x3B { isExtension = true }
                extensionOctets += 1
                if isOver(extensionOctets, outcome) { return outcome.ending(.extensionLimit) }
                position += 1
            }
            guard position + 1 < body.count else { return outcome }
            guard body[position + 1] == 0x0A else { return outcome.ending(.chunkEnd) }
            position += 2
            if size == 0 { return readTrailers(body, position, outcome) }
            let available = min(Int64(body.count - position), size)
            outcome.content += body[position..<(position + Int(available))]
            position += Int(available)
            guard available == size, position < body.count else { return outcome }
            guard body[position] == 0x0D else { return outcome.ending(.chunkEnd) }
            guard position + 1 < body.count else { return outcome }
            guard body[position + 1] == 0x0A else { return outcome.ending(.chunkEnd) }
            position += 2
        }
    }

    /// Reads lines up to an empty one. Fields that are not allowed in trailers (RFC 9110 §6.5.1) are omitted.
    private func readTrailers(_ body: [UInt8], _ start: Int, _ before: ChunkOutcome) -> ChunkOutcome {
        var outcome = before
        var lines: [[UInt8]] = []
        var position = start
        while true {
            let verdict = line(body, position, start, lines.count)
            switch verdict {
            case .incomplete: return outcome
            case .wrong: return outcome.ending(.trailers)
            case .line(let line):
                position += line.count + 2
                if line.isEmpty {
                    for line in lines { addTrailer(line, &outcome) }
                    return outcome.ending(.complete(length: position))
                }
                lines.append(line)
            }
        }
    }

    private enum Line {
        case incomplete, wrong
        case line([UInt8])
    }

    /// Returns the line at `position`, or whether the available part of it is incomplete or wrong.
    private func line(_ body: [UInt8], _ position: Int, _ start: Int, _ count: Int) -> Line {
        var octets: [UInt8] = []
        var colon: Int?
        for index in position..<max(position, body.count) {
            if index - start >= limits.headBytes { return .wrong }
            let octet = body[index]
            if octet == 0x0D {
                guard colon != nil || octets.isEmpty else { return .wrong }
                guard index + 1 < body.count else { return .incomplete }
                guard index + 1 - start < limits.headBytes, body[index + 1] == 0x0A else { return .wrong }
                return .line(octets)
            }
            if octets.count >= limits.lineBytes || count >= limits.fieldCount { return .wrong }
            if colon != nil {
                guard octet == 0x09 || (octet >= 0x20 && octet != 0x7F) else { return .wrong }
            } else if octet == 0x3A {
                guard !octets.isEmpty else { return .wrong }
                colon = octets.count
            } else {
                guard isTokenOctet(octet) else { return .wrong }
            }
            octets.append(octet)
        }
        return .incomplete
    }

    /// Adds a trailer to the outcome, unless it is forbidden.
    private func addTrailer(_ line: [UInt8], _ outcome: inout ChunkOutcome) {
        let parts = line.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(decoding: parts[0], as: UTF8.self)
        let forbidden = [
            "age", "authorization", "cache-control", "connection", "content-encoding", "content-length",
            "content-range", "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive",
            "location", "max-forwards", "pragma", "proxy-authenticate", "proxy-authorization",
            "proxy-connection", "range", "retry-after", "set-cookie", "te", "trailer", "transfer-encoding",
            "upgrade", "vary", "warning", "www-authenticate",
        ]
        guard !forbidden.contains(name.lowercased()) else { return }
        var value = Array(parts[1])
        while let last = value.last, isBlank(last) { value.removeLast() }
        while let first = value.first, isBlank(first) { value.removeFirst() }
        outcome.trailers += [Array(parts[0]), value]
    }

    /// Returns whether there are too many octets of extensions for the content so far.
    private func isOver(_ extensionOctets: Int, _ outcome: ChunkOutcome) -> Bool {
        extensionOctets > limits.chunkExtensionBytes + outcome.content.count
    }

    /// Returns the number, or nil if it has more than 63 bits.
    private func size(_ digits: [UInt8]) -> Int64? {
        var size: Int64 = 0
        for digit in digits {
            let (product, isTooMuch) = size.multipliedReportingOverflow(by: 16)
            guard !isTooMuch else { return nil }
            size = product + Int64(digit)
        }
        return size
    }

    private func hexadecimal(_ octet: UInt8) -> UInt8? {
        let alphabet = Array("0123456789abcdef".utf8)
        let small = octet >= 0x41 && octet <= 0x46 ? octet + 0x20 : octet
        return alphabet.firstIndex(of: small).map { UInt8($0) }
    }

    private func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    // tchar, RFC 9110 §5.6.2.
    private func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: Array("!#$%&'*+-.^_`|~".utf8).contains(octet)
        }
    }
}

extension ChunkOutcome {
    /// Returns the outcome with that ending.
    fileprivate func ending(_ ending: Ending) -> ChunkOutcome {
        var outcome = self
        outcome.ending = ending
        return outcome
    }
}
