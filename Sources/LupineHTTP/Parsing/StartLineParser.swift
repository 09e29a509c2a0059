// SPDX-License-Identifier: MIT

/// Parses the first line of a head: RFC 9112 §3 and §4.
///
/// The line is passed complete, without its line end. `checkBeginning` checks one that is still arriving, so that a peer that
/// speaks another protocol is refused at the first wrong octet and not at the first line end.
enum StartLineParser {
    private static let version: StaticOctets = [0x48, 0x54, 0x54, 0x50, 0x2F]
    private typealias StaticOctets = InlineArray<5, UInt8>
    /// "HTTP/1.1" and "HTTP/1.0", the first octet in the lowest byte.
    private static let http11: UInt64 = 0x312E_312F_5054_5448
    private static let http10: UInt64 = 0x302E_312F_5054_5448

    // MARK: responses

    static func statusLine(
        _ bytes: Span<UInt8>, _ end: Int, _ leniency: Leniency
    ) throws(HTTPError) -> HeadParser.StartLine {
        let version: HTTPVersion
        // A version that is longer or shorter than eight octets is another one.
        let isWhole = end == 8 || (end > 8 && bytes[8] == Octet.space)
        switch isWhole ? OctetScan.word(bytes, at: 0) : 0 {
        case http11: version = .http11
        case http10: version = .http10
        default:
            try checkBeginning(bytes, end, .response)
            version = try versionInFull(bytes, end)
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
        let status = Status(checked: code)
        if end == 12 {
            guard leniency.contains(.missingReason) else { throw .missingReason(offset: end) }
            return .response(version, status, customReason: standard("", status))
        }
        try expect(Octet.space, bytes, 12, end)
        let reason = 13..<end
        let stop = OctetScan.endOfValue(bytes, from: reason.lowerBound, to: end)
        guard stop == end else {
            throw bytes[stop] == Octet.carriageReturn
                ? .bareCarriageReturn(offset: stop) : .invalidFieldValue(octet: bytes[stop], offset: stop)
        }
        let expected = status.standardReason
        if reason.count == expected.utf8.count, bytes.equals(expected, at: reason.lowerBound) {
            return .response(version, status, customReason: nil)
        }
        var received: [UInt8] = []
        received.append(bytes, reason)
        return .response(version, status, customReason: received)
    }

    private static func standard(_ reason: String, _ status: Status) -> [UInt8]? {
        status.standardReason == reason ? nil : Array(reason.utf8)
    }

    // MARK: requests

    static func requestLine(_ bytes: Span<UInt8>, _ end: Int) throws(HTTPError) -> HeadParser.StartLine {
        try checkBeginning(bytes, end, .request)
        let methodEnd = OctetScan.endOfToken(bytes, from: 0, to: end)
        try expect(Octet.space, bytes, methodEnd, end)
        let method = Method(checked: bytes, 0..<methodEnd)
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
        let rest = bytes.extracting(start..<end)
        if bytes.equals("PRI * HTTP/2.0", at: 0), end == 14 { throw .http2Preface }
        let version: HTTPVersion
        do {
            version = try versionInFull(rest, rest.count)
        } catch {
            throw error.shifted(by: start)
        }
        guard rest.count == 8 else { throw .malformedStartLine(octet: rest[8], offset: start &+ 8) }
        let target = try RequestTarget.parsed(bytes.text(targetStart..<targetEnd), method: method)
        return .request(method, target, version)
    }

    // MARK: both

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
        for index in 0..<min(count, 5) where bytes[index] != version[index] {
            switch http2(bytes, count) {
            case .complete: throw .http2Preface
            case .possible: return
            case .no: throw .notHTTP(octet: bytes[index], offset: index)
            }
        }
    }

    private enum Match { case no, possible, complete }

    /// Whether a connection begins with the HTTP/2 preface, or with a server's first SETTINGS frame: three octets of a small
    /// length, type 4, no flags, stream 0 (RFC 9113 §3.4, §6.5).
    private static func http2(_ bytes: Span<UInt8>, _ count: Int) -> Match {
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

    /// Returns the version in the first eight octets, or throws its error.
    private static func versionInFull(_ bytes: Span<UInt8>, _ end: Int) throws(HTTPError) -> HTTPVersion {
        for index in 0..<5 {
            guard index < end else { throw .malformedStartLine(octet: Octet.carriageReturn, offset: end) }
            guard bytes[index] == version[index] else { throw .notHTTP(octet: bytes[index], offset: index) }
        }
        var nameEnd = 5
        while nameEnd < end, OctetClass.contains(bytes[nameEnd], OctetClass.token) { nameEnd &+= 1 }
        if nameEnd < end, bytes[nameEnd] == Octet.carriageReturn {
            throw .bareCarriageReturn(offset: nameEnd)
        }
        let name = bytes.extracting(0..<nameEnd)
        guard nameEnd == 8, Octet.decimal(name[5]) == 1, name[6] == 0x2E, let minor = Octet.decimal(name[7])
        else { throw .unsupportedVersion(Excerpt(name)) }
        return minor == 0 ? .http10 : .http11
    }

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
    /// Returns the same error for a line that begins `distance` octets later.
    fileprivate func shifted(by distance: Int) -> HTTPError {
        switch self {
        case .notHTTP(let octet, let offset), .malformedStartLine(let octet, let offset):
            .malformedStartLine(octet: octet, offset: offset &+ distance)
        case .bareCarriageReturn(let offset): .bareCarriageReturn(offset: offset &+ distance)
        default: self
        }
    }
}
