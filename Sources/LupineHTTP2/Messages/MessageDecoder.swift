// SPDX-License-Identifier: MIT

package import LupineHTTP

/// A received request: its head, as in HTTP/1.1, and what a head in HTTP/1.1 does not have.
package struct ReceivedRequest: Hashable, Sendable {
    /// The head. Its fields include `Host`, whether it was received as `host` or as `:authority`.
    package var head: RequestHead
    /// The scheme; nil for CONNECT.
    package var scheme: String?
    /// The protocol that an extended CONNECT requests (RFC 8441 §4); nil for other requests.
    package var `protocol`: String?
    /// The value of `content-length`; nil if the field is absent.
    package var contentLength: Int64?
}

/// Converts header lists to heads and trailers, and rejects malformed ones: RFC 9113 §8.2 and §8.3.
package enum MessageDecoder {
    /// Returns the head of a response, which may be an interim one.
    package static func response(_ list: HeaderList) throws(MessageError) -> ResponseHead {
        let pseudo = try PseudoFields(list, in: .response)
        let fields = try pseudo.fields(of: list)
        guard let range = pseudo[.status] else { throw .missingPseudoField(":status") }
        let digits = list.octets.span.extracting(range)
        var code = 0
        // The value must be three digits. With anything else, the code remains below 100, and is rejected below. 0x30 is "0". The
        // subtraction wraps, so that only digits give less than 10.
        for index in digits.indices {
            guard digits.count == 3, digits[index] &- 0x30 < 10 else { break }
            code = code &* 10 &+ Int(digits[index] &- 0x30)
        }
        guard (100...999).contains(code) else {
            throw .invalidPseudoField(":status", Excerpt(digits))
        }
        return ResponseHead(version: .http2, status: Status(code), fields: fields)
    }

    /// Returns the value of `content-length` in fields that a reader has already checked; nil if there is none.
    package static func contentLength(_ fields: Fields) -> Int64? {
        // `number` returns nil for an invalid value, which makes the result doubly optional.
        fields.withFirstValue(of: .contentLength) { FieldRule.number($0) } ?? nil
    }

    /// Returns the trailers of a message, without fields that are not allowed in trailers (RFC 9110 §6.5.1).
    package static func trailers(_ list: HeaderList) throws(MessageError) -> Fields {
        let pseudo = try PseudoFields(list, in: .trailers)
        return TrailerRule.removingForbiddenFields(from: try pseudo.fields(of: list))
    }

    /// Returns a request. `allowsProtocol` says whether this endpoint has allowed extended CONNECT.
    package static func request(
        _ list: HeaderList, allowsProtocol: Bool = false
    ) throws(MessageError) -> ReceivedRequest {
        let pseudo = try PseudoFields(list, in: .request)
        let octets = list.octets.span
        let fields = try pseudo.fields(of: list)
        guard let methodRange = pseudo[.method] else { throw .missingPseudoField(":method") }
        let method = try method(octets.extracting(methodRange))
        // The target is a placeholder, and is set below.
        var request = ReceivedRequest(
            head: RequestHead(method: method, target: .asterisk, version: .http2, fields: fields),
            contentLength: try FieldRule.contentLength(fields))
        if pseudo[.protocol] != nil {
            guard allowsProtocol, method == .connect else {
                throw .unexpectedPseudoField(Excerpt(":protocol"))
            }
        }
        if method == .connect, pseudo[.protocol] == nil {
            try requireNoSchemeOrPath(pseudo)
            guard let authority = pseudo[.authority] else { throw .missingPseudoField(":authority") }
            request.head.target = try target(
                octets.text(authority), as: .connect, of: ":authority", octets.extracting(authority))
        } else {
            guard let scheme = pseudo[.scheme] else { throw .missingPseudoField(":scheme") }
            guard let path = pseudo[.path] else { throw .missingPseudoField(":path") }
            request.scheme = try schemeText(octets.extracting(scheme))
            request.protocol = pseudo[.protocol].map { octets.text($0) }
            // The target of an extended CONNECT has the same form as that of other methods: it is parsed as that of GET.
            let targetMethod = pseudo[.protocol] == nil ? method : .get
            request.head.target = try originTarget(octets.text(path), targetMethod, octets.extracting(path))
        }
        try setHost(
            pseudo[.authority].map { Array(list.octets[$0]) }, request.scheme, &request.head.fields)
        return request
    }

    // MARK: Parts of a message

    /// Returns the method with a name. Throws if the name is not a token.
    private static func method(_ token: Span<UInt8>) throws(MessageError) -> Method {
        do throws(HTTPError) { return try Method(token.text(token.indices)) } catch {
            throw .invalidPseudoField(":method", Excerpt(token))
        }
    }

    /// Throws if a CONNECT request has a scheme or a path (§8.5).
    private static func requireNoSchemeOrPath(_ pseudo: PseudoFields) throws(MessageError) {
        if pseudo[.scheme] != nil { throw .unexpectedPseudoField(Excerpt(":scheme")) }
        if pseudo[.path] != nil { throw .unexpectedPseudoField(Excerpt(":path")) }
    }

    /// Returns the scheme as a string. Throws if it is not a scheme by RFC 3986 §3.1.
    private static func schemeText(_ scheme: Span<UInt8>) throws(MessageError) -> String {
        // The first octet is a letter, which `| 0x20` converts to lower case. Letters, digits, `+`, `-` and `.` may follow.
        var isValid = !scheme.isEmpty && (scheme[0] | 0x20) &- 0x61 < 26
        for index in scheme.indices {
            switch scheme[index] {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: continue
            default: isValid = false
            }
        }
        guard isValid else { throw .invalidPseudoField(":scheme", Excerpt(scheme)) }
        return scheme.text(scheme.indices)
    }

    /// Parses `:path`, which is a path with an optional query, or the asterisk of OPTIONS (§8.3.1).
    private static func originTarget(
        _ path: String, _ method: Method, _ octets: Span<UInt8>
    ) throws(MessageError) -> RequestTarget {
        let target = try target(path, as: method, of: ":path", octets)
        switch target {
        case .origin, .asterisk: return target
        case .absolute, .authority: throw .invalidPseudoField(":path", Excerpt(octets))
        }
    }

    /// Parses a request target, given as a string and as octets. `name` is the pseudo-field that contains it.
    private static func target(
        _ text: String, as method: Method, of name: String, _ octets: Span<UInt8>
    ) throws(MessageError) -> RequestTarget {
        // Only visible ASCII characters, 0x21 to 0x7E, are allowed. The subtraction wraps, so that only these give less than
        // 0x5E.
        for index in octets.indices where octets[index] &- 0x21 >= 0x5E {
            throw .invalidPseudoField(name, Excerpt(octets))
        }
        do throws(HTTPError) { return try RequestTarget.parse(text, method: method) } catch {
            throw .invalidPseudoField(name, Excerpt(octets))
        }
    }

    /// Inserts `Host`, with the value of `:authority`, before all other fields. If `host` is already present, the fields remain
    /// as they are, but its value must equal `:authority` (§8.3.1), apart from case and the scheme's default port (RFC 3986
    /// §6.2.3).
    private static func setHost(
        _ authority: [UInt8]?, _ scheme: String?, _ fields: inout Fields
    ) throws(MessageError) {
        let hostIndices = fields.indices(of: .host)
        for index in hostIndices {
            try fields.withValue(at: index) { host throws(MessageError) in
                guard !host.isEmpty, Authority.isHostField(host), hostIndices.count == 1 else {
                    throw .invalidPseudoField("host", Excerpt(host))
                }
                if let authority, !host.isSameAuthority(as: authority.span, scheme: scheme) {
                    throw .conflictingHost(Excerpt(authority.span), Excerpt(host))
                }
            }
        }
        guard let authority else {
            guard !hostIndices.isEmpty else { throw .missingPseudoField(":authority") }
            return
        }
        guard !authority.isEmpty, Authority.isHostField(authority.span) else {
            throw .invalidPseudoField(":authority", Excerpt(authority.span))
        }
        guard hostIndices.isEmpty else { return }
        var allFields = Fields()
        try PseudoFields.append(.host, authority.span, to: &allFields)
        allFields.append(contentsOf: fields)
        fields = allFields
    }
}

extension Span where Element == UInt8 {
    /// Returns whether two authorities are equal, apart from case and the default port of the scheme.
    fileprivate func isSameAuthority(as other: Span<UInt8>, scheme: String?) -> Bool {
        let host = extracting(..<countWithoutDefaultPort(of: scheme))
        let otherHost = other.extracting(..<other.countWithoutDefaultPort(of: scheme))
        return host.isEqualIgnoringCase(to: otherHost)
    }

    /// Returns the length in octets of an authority, without the port if it is the default one of the scheme.
    private func countWithoutDefaultPort(of scheme: String?) -> Int {
        let port: String
        switch scheme?.lowercased() {
        case "http": port = ":80"
        case "https": port = ":443"
        default: return count
        }
        let start = count &- port.utf8.count
        return start >= 0 && extracting(start...).isEqualIgnoringCase(to: port.utf8.span) ? start : count
    }

    /// Returns whether two spans are equal, ignoring ASCII case.
    private func isEqualIgnoringCase(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where Self.lowercased(self[index]) != Self.lowercased(other[index]) {
            return false
        }
        return true
    }

    /// Returns an octet with A-Z converted to lower case. 0x41 is "A"; the subtraction wraps, so that only A-Z give less than 26.
    private static func lowercased(_ octet: UInt8) -> UInt8 { octet &- 0x41 < 26 ? octet | 0x20 : octet }
}
