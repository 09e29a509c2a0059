// SPDX-License-Identifier: MIT

/// Parses the first line of a head: RFC 9112 §3 and §4.
///
/// The functions receive the octets of a complete line, of which the first `end` precede the line end. Only `checkBeginning` also
/// checks an incomplete line, so that the parser refuses a peer of another protocol at the first wrong octet, without waiting for
/// a line end. If a line ends too early, the error contains the CR that ends it.
enum StartLineParser {
    /// "HTTP/".
    private static let versionPrefix: InlineArray<5, UInt8> = [0x48, 0x54, 0x54, 0x50, 0x2F]
    /// "HTTP/1.1" and "HTTP/1.0", the first octet in the lowest byte.
    private static let http11: UInt64 = 0x312E_312F_5054_5448
    private static let http10: UInt64 = 0x302E_312F_5054_5448

    // MARK: Responses

    /// Parses the status line, `HTTP/1.1 200 OK`, in the first `end` octets.
    static func statusLine(
        _ bytes: Span<UInt8>, _ end: Int, _ leniency: Leniency
    ) throws(HTTPError) -> HeadParser.StartLine {
        let version: HTTPVersion
        // The fast path: the two versions have eight octets. A version of another length becomes 0 here, which equals neither of
        // them, and is left to `parseVersion`.
        let hasEightOctets = end == 8 || (end > 8 && bytes[8] == Octet.space)
        switch hasEightOctets ? OctetScan.word(bytes, at: 0) : 0 {
        case http11: version = .http11
        case http10: version = .http10
        default:
            try checkBeginning(bytes, end, .response)
            version = try parseVersion(bytes, end)
        }
        try require(Octet.space, bytes, at: 8, end)
        // The three digits of the status code.
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
        // The line ends after the code.
        if end == 12 {
            guard leniency.contains(.missingReason) else { throw .missingReason(offset: end) }
            // A custom reason of nil stands for the standard phrase, which is empty for an unassigned code.
            let customReason: [UInt8]? = status.standardReason.isEmpty ? nil : []
            return .response(version, status, customReason: customReason)
        }
        try require(Octet.space, bytes, at: 12, end)
        let reason = 13..<end
        let reasonEnd = OctetScan.endOfValue(bytes, from: reason.lowerBound, to: end)
        guard reasonEnd == end else {
            let octet = bytes[reasonEnd]
            throw octet == Octet.carriageReturn
                ? .bareCarriageReturn(offset: reasonEnd) : .invalidFieldValue(octet: octet, offset: reasonEnd)
        }
        let standardReason = status.standardReason
        if reason.count == standardReason.utf8.count, bytes.contains(standardReason, at: reason.lowerBound) {
            return .response(version, status, customReason: nil)
        }
        var customReason: [UInt8] = []
        customReason.append(bytes, reason)
        return .response(version, status, customReason: customReason)
    }

    // MARK: Requests

    /// Parses the request line, `GET /path HTTP/1.1`, in the first `end` octets.
    static func requestLine(_ bytes: Span<UInt8>, _ end: Int) throws(HTTPError) -> HeadParser.StartLine {
        try checkBeginning(bytes, end, .request)
        let methodEnd = OctetScan.endOfToken(bytes, from: 0, to: end)
        try require(Octet.space, bytes, at: methodEnd, end)
        let method = Method(validated: bytes, 0..<methodEnd)
        let targetStart = methodEnd &+ 1
        var targetEnd = targetStart
        while targetEnd < end, OctetClass.contains(bytes[targetEnd], OctetClass.target) { targetEnd &+= 1 }
        guard targetEnd < end else {
            guard targetEnd > targetStart else {
                throw .malformedStartLine(octet: Octet.carriageReturn, offset: end)
            }
            // A request line of HTTP/0.9 has no version.
            throw .unsupportedVersion(Excerpt("HTTP/0.9"))
        }
        guard targetEnd > targetStart, bytes[targetEnd] == Octet.space else {
            throw bytes[targetEnd] == Octet.carriageReturn
                ? .bareCarriageReturn(offset: targetEnd)
                : .malformedStartLine(octet: bytes[targetEnd], offset: targetEnd)
        }
        let versionStart = targetEnd &+ 1
        let versionOctets = bytes.extracting(versionStart..<end)
        // The first line of the HTTP/2 preface, with its 14 octets, looks like a request line.
        if bytes.contains("PRI * HTTP/2.0", at: 0), end == 14 { throw .http2Preface }
        let version: HTTPVersion
        do {
            version = try parseVersion(versionOctets, versionOctets.count)
        } catch {
            throw error.asErrorOfRequestLine(versionStart: versionStart)
        }
        guard versionOctets.count == 8 else {
            throw .malformedStartLine(octet: versionOctets[8], offset: versionStart &+ 8)
        }
        let target = try RequestTarget.parse(bytes.text(targetStart..<targetEnd), method: method)
        return .request(method, target, version)
    }

    // MARK: Requests and responses

    /// Throws if the first `count` octets cannot be the beginning of a first line. They may be fewer than the whole line.
    static func checkBeginning(_ bytes: Span<UInt8>, _ count: Int, _ kind: HeadParser.Kind) throws(HTTPError)
    {
        guard count > 0 else { return }
        guard kind == .response else {
            // A request begins with a method, which may be any token.
            guard OctetClass.contains(bytes[0], OctetClass.token) else {
                throw .notHTTP(octet: bytes[0], offset: 0)
            }
            return
        }
        for index in 0..<min(count, versionPrefix.count) where bytes[index] != versionPrefix[index] {
            switch matchHTTP2(bytes, count) {
            case .complete: throw .http2Preface
            case .possible: return
            case .no: throw .notHTTP(octet: bytes[index], offset: index)
            }
        }
    }

    /// Whether the octets received so far are the beginning of a connection in HTTP/2.
    private enum Match {
        case no
        /// All octets received so far match, but more are needed to decide.
        case possible
        case complete
    }

    /// Compares the beginning of a connection with the first line of the HTTP/2 preface, and with the head of a server's first
    /// SETTINGS frame (RFC 9113 §3.4, §6.5). In the frame's head of 9 octets, octets 0 to 2 are a length, here below 256. Octet 3
    /// is the type, 4. Octet 4, the flags, and octets 5 to 8, the stream, are zero.
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

    /// Parses the version, `HTTP/1.1`, at the beginning of the octets, of which `end` are in the line. Returns `.http11` for any
    /// minor version but 0 (RFC 9110 §2.5).
    private static func parseVersion(_ bytes: Span<UInt8>, _ end: Int) throws(HTTPError) -> HTTPVersion {
        for index in versionPrefix.indices {
            guard index < end else { throw .malformedStartLine(octet: Octet.carriageReturn, offset: end) }
            guard bytes[index] == versionPrefix[index] else {
                throw .notHTTP(octet: bytes[index], offset: index)
            }
        }
        var versionEnd = versionPrefix.count
        while versionEnd < end, OctetClass.contains(bytes[versionEnd], OctetClass.token) { versionEnd &+= 1 }
        if versionEnd < end, bytes[versionEnd] == Octet.carriageReturn {
            throw .bareCarriageReturn(offset: versionEnd)
        }
        let version = bytes.extracting(0..<versionEnd)
        let dot = UInt8(ascii: ".")
        guard versionEnd == 8, Octet.decimal(version[5]) == 1, version[6] == dot,
            let minorVersion = Octet.decimal(version[7])
        else { throw .unsupportedVersion(Excerpt(version)) }
        return minorVersion == 0 ? .http10 : .http11
    }

    /// Throws unless `octet` is at `index`, before the end of the line at `end`.
    private static func require(
        _ octet: UInt8, _ bytes: Span<UInt8>, at index: Int, _ end: Int
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
    /// Converts an error that `parseVersion` has thrown into one of the request line, in which the version begins at
    /// `versionStart`. Its offset counts from the beginning of the line. The line begins with a valid method and target, so that
    /// it is malformed rather than not HTTP.
    fileprivate func asErrorOfRequestLine(versionStart: Int) -> HTTPError {
        switch self {
        case .notHTTP(let octet, let offset), .malformedStartLine(let octet, let offset):
            .malformedStartLine(octet: octet, offset: offset &+ versionStart)
        case .bareCarriageReturn(let offset): .bareCarriageReturn(offset: offset &+ versionStart)
        default: self
        }
    }
}
