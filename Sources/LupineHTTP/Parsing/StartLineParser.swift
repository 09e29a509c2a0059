// SPDX-License-Identifier: MIT

/// Parses the first line of a head: RFC 9112 §3 and §4.
///
/// The functions get a complete line, without its line end. `checkBeginning` also checks a line that is still arriving, so that
/// the parser refuses a peer with another protocol at the first wrong octet and does not wait for a line end. If a line ends too
/// early, the error contains the CR that ends it.
enum StartLineParser {
    /// "HTTP/".
    private static let versionPrefix: InlineArray<5, UInt8> = [0x48, 0x54, 0x54, 0x50, 0x2F]
    /// "HTTP/1.1" and "HTTP/1.0", the first octet in the lowest byte.
    private static let http11: UInt64 = 0x312E_312F_5054_5448
    private static let http10: UInt64 = 0x302E_312F_5054_5448

    // MARK: Responses

    /// Parses the status line in the first `end` octets.
    static func statusLine(
        _ bytes: Span<UInt8>, _ end: Int, _ leniency: Leniency
    ) throws(HTTPError) -> HeadParser.StartLine {
        let version: HTTPVersion
        // A version of more or fewer than eight octets is neither of the two.
        let isWhole = end == 8 || (end > 8 && bytes[8] == Octet.space)
        switch isWhole ? OctetScan.word(bytes, at: 0) : 0 {
        case http11: version = .http11
        case http10: version = .http10
        default:
            try checkBeginning(bytes, end, .response)
            version = try parseVersion(bytes, end)
        }
        try expect(Octet.space, bytes, 8, end)
        var code: UInt16 = 0
        for index in 9..<12 {
            guard index < end else { throw .malformedStartLine(octet: Octet.carriageReturn, offset: end) }
            guard let digit = Octet.decimal(bytes[index]) else {
                throw .malformedStartLine(octet: bytes[index], offset: index)
            }
            code = code &* 10 &+ UInt16(digit)
        }
        guard code >= 100 else { throw .invalidStatusCode(Int(code)) }
        let status = Status(validated: code)
        if end == 12 {
            guard leniency.contains(.missingReason) else { throw .missingReason(offset: end) }
            // Nil stands for the standard phrase, which is empty for unassigned codes.
            let customReason: [UInt8]? = status.standardReason.isEmpty ? nil : []
            return .response(version, status, customReason: customReason)
        }
        try expect(Octet.space, bytes, 12, end)
        let reason = 13..<end
        let reasonEnd = OctetScan.endOfValue(bytes, from: reason.lowerBound, to: end)
        guard reasonEnd == end else {
            let octet = bytes[reasonEnd]
            throw octet == Octet.carriageReturn
                ? .bareCarriageReturn(offset: reasonEnd) : .invalidFieldValue(octet: octet, offset: reasonEnd)
        }
        let expected = status.standardReason
        if reason.count == expected.utf8.count, bytes.contains(expected, at: reason.lowerBound) {
            return .response(version, status, customReason: nil)
        }
        var received: [UInt8] = []
        received.append(bytes, reason)
        return .response(version, status, customReason: received)
    }

    // MARK: Requests

    /// Parses the request line in the first `end` octets.
    static func requestLine(_ bytes: Span<UInt8>, _ end: Int) throws(HTTPError) -> HeadParser.StartLine {
        try checkBeginning(bytes, end, .request)
        let methodEnd = OctetScan.endOfToken(bytes, from: 0, to: end)
        try expect(Octet.space, bytes, methodEnd, end)
        let method = Method(validated: bytes, 0..<methodEnd)
        let targetStart = methodEnd &+ 1
        var targetEnd = targetStart
        while targetEnd < end, OctetClass.contains(bytes[targetEnd], OctetClass.target) { targetEnd &+= 1 }
        guard targetEnd < end else {
            guard targetEnd > targetStart else {
                throw .malformedStartLine(octet: Octet.carriageReturn, offset: end)
            }
            throw .unsupportedVersion(Excerpt("HTTP/0.9"))
        }
        guard targetEnd > targetStart, bytes[targetEnd] == Octet.space else {
            throw bytes[targetEnd] == Octet.carriageReturn
                ? .bareCarriageReturn(offset: targetEnd)
                : .malformedStartLine(octet: bytes[targetEnd], offset: targetEnd)
        }
        let start = targetEnd &+ 1
        let versionOctets = bytes.extracting(start..<end)
        if bytes.contains("PRI * HTTP/2.0", at: 0), end == 14 { throw .http2Preface }
        let version: HTTPVersion
        do {
            version = try parseVersion(versionOctets, versionOctets.count)
        } catch {
            throw error.shifted(by: start)
        }
        guard versionOctets.count == 8 else {
            throw .malformedStartLine(octet: versionOctets[8], offset: start &+ 8)
        }
        let target = try RequestTarget.parse(bytes.text(targetStart..<targetEnd), method: method)
        return .request(method, target, version)
    }

    // MARK: Both

    /// Throws if the first `count` octets cannot be the beginning of a first line.
    static func checkBeginning(_ bytes: Span<UInt8>, _ count: Int, _ kind: HeadParser.Kind) throws(HTTPError)
    {
        guard count > 0 else { return }
        guard kind == .response else {
            guard OctetClass.contains(bytes[0], OctetClass.token) else {
                throw .notHTTP(octet: bytes[0], offset: 0)
            }
            return
        }
        for index in 0..<min(count, 5) where bytes[index] != versionPrefix[index] {
            switch matchHTTP2(bytes, count) {
            case .complete: throw .http2Preface
            case .possible: return
            case .no: throw .notHTTP(octet: bytes[index], offset: index)
            }
        }
    }

    private enum Match { case no, possible, complete }

    /// Compares the beginning of a connection with the HTTP/2 preface, and with a server's first SETTINGS frame: a length below
    /// 256 in three octets, type 4, no flags, stream 0 (RFC 9113 §3.4, §6.5).
    private static func matchHTTP2(_ bytes: Span<UInt8>, _ count: Int) -> Match {
        let preface = "PRI * HTTP/2.0"
        var index = 0
        for octet in preface.utf8 {
            guard index < count else { return .possible }
            guard bytes[index] == octet else { break }
            index &+= 1
        }
        if index == preface.utf8.count { return .complete }
        guard bytes[0] == 0, count < 2 || bytes[1] == 0 else { return .no }
        if count > 3, bytes[3] != 4 { return .no }
        for index in 4..<max(4, min(count, 9)) where bytes[index] != 0 { return .no }
        return count >= 9 ? .complete : .possible
    }

    /// Parses the version in the first eight octets.
    private static func parseVersion(_ bytes: Span<UInt8>, _ end: Int) throws(HTTPError) -> HTTPVersion {
        for index in 0..<5 {
            guard index < end else { throw .malformedStartLine(octet: Octet.carriageReturn, offset: end) }
            guard bytes[index] == versionPrefix[index] else {
                throw .notHTTP(octet: bytes[index], offset: index)
            }
        }
        var nameEnd = 5
        while nameEnd < end, OctetClass.contains(bytes[nameEnd], OctetClass.token) { nameEnd &+= 1 }
        if nameEnd < end, bytes[nameEnd] == Octet.carriageReturn {
            throw .bareCarriageReturn(offset: nameEnd)
        }
        let name = bytes.extracting(0..<nameEnd)
        let dot = UInt8(ascii: ".")
        guard nameEnd == 8, Octet.decimal(name[5]) == 1, name[6] == dot, let minor = Octet.decimal(name[7])
        else { throw .unsupportedVersion(Excerpt(name)) }
        return minor == 0 ? .http10 : .http11
    }

    /// Throws unless `octet` is at `index`.
    private static func expect(
        _ octet: UInt8, _ bytes: Span<UInt8>, _ index: Int, _ end: Int
    ) throws(HTTPError) {
        guard index < end else { throw .malformedStartLine(octet: Octet.carriageReturn, offset: end) }
        guard bytes[index] == octet else {
            throw bytes[index] == Octet.carriageReturn
                ? .bareCarriageReturn(offset: index)
                : .malformedStartLine(octet: bytes[index], offset: index)
        }
    }
}

extension HTTPError {
    /// Translates an error of the version in a request line, which begins `distance` octets after the line: offsets count from
    /// the line's beginning, and after a method and a target the line counts as malformed rather than as not HTTP.
    fileprivate func shifted(by distance: Int) -> HTTPError {
        switch self {
        case .notHTTP(let octet, let offset), .malformedStartLine(let octet, let offset):
            .malformedStartLine(octet: octet, offset: offset &+ distance)
        case .bareCarriageReturn(let offset): .bareCarriageReturn(offset: offset &+ distance)
        default: self
        }
    }
}
