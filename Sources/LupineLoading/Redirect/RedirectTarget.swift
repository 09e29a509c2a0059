// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The target of a `Location` field (RFC 3986 §5.2, RFC 9110 §10.2.2; U-10.1 to U-10.3).
///
/// Parsing is lenient: it percent-encodes characters that a URI must not contain, and each percent sign that is not followed by
/// two hexadecimal digits. The result is a URL to which a request can be sent; `RedirectRule` decides whether it may be sent
/// there.
struct RedirectTarget: Sendable {
    /// The reason why there is no target.
    enum Failure: Error, Hashable, Sendable {
        /// The value cannot be resolved to a URL with a host.
        case unreadable
        /// The scheme is none of `http`, `https`, `ws` and `wss`. Also thrown for `ws` and `wss` if the task is no WebSocket
        /// task.
        case unsupportedScheme(String)
    }

    /// The URL without its user info; `credential` has the user info.
    let url: URL
    /// The user and password in the value; nil for none.
    let credential: URLCredential?

    /// Resolves the value of a `Location` field.
    ///
    /// - Parameters:
    ///   - location: The field's value.
    ///   - base: The URL of the response.
    ///   - isWebSocket: Whether the task is a WebSocket task: `http` then becomes `ws`, and `https` becomes `wss`.
    init(_ location: String, from base: URL, isWebSocket: Bool) throws(Failure) {
        let resolved = Self.resolve(
            Array(location.utf8), against: URIReference(Array(base.absoluteString.utf8)))
        let scheme = try Self.scheme(resolved.scheme ?? [], isWebSocket: isWebSocket)
        guard let authority = Authority(resolved.authority) else { throw .unreadable }
        var text = scheme + "://" + authority.hostAndPort + Self.text(resolved.path)
        if let query = resolved.query { text += "?" + Self.text(query) }
        if let fragment = resolved.fragment { text += "#" + Self.text(fragment) }
        guard let url = URL(string: text), url.hostName?.isEmpty == false else {
            throw .unreadable
        }
        self.url = url
        credential = authority.credential
    }

    /// Returns the target's scheme; for a WebSocket task, `ws` or `wss`.
    private static func scheme(_ octets: ArraySlice<UInt8>, isWebSocket: Bool) throws(Failure) -> String {
        let scheme = text(octets).lowercased()
        switch (scheme, isWebSocket) {
        case ("http", false), ("https", false), ("ws", true), ("wss", true): return scheme
        case ("http", true): return "ws"
        case ("https", true): return "wss"
        case (_, _): throw .unsupportedScheme(scheme)
        }
    }

    /// Decodes octets as UTF-8.
    private static func text(_ octets: some Sequence<UInt8>) -> String {
        String(decoding: Array(octets), as: UTF8.self)
    }

    // MARK: resolution

    /// Resolves a reference against a base, without spaces and tabs around the reference. If the reference has no fragment, the
    /// result has the base's fragment (RFC 9110 §10.2.2). All components of the result but the authority are percent-encoded.
    static func resolve(_ reference: [UInt8], against base: URIReference) -> URIReference {
        let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let end = reference.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? 0
        let trimmed = URIReference(Array(reference[..<end].drop { blanks.contains($0) }))
        let encodedReference = URIReference(
            scheme: trimmed.scheme, authority: trimmed.authority,
            path: percentEncoded(trimmed.path, URIByte.isPath),
            query: trimmed.query.map { percentEncoded($0, URIByte.isQuery) },
            fragment: (trimmed.fragment ?? base.fragment).map { percentEncoded($0, URIByte.isQuery) })
        return encodedReference.resolved(against: base)
    }

    /// Percent-encodes octets that are not allowed, and each `%` that begins no triplet: `%` and two hexadecimal digits.
    private static func percentEncoded(_ text: ArraySlice<UInt8>, _ isAllowed: (UInt8) -> Bool) -> ArraySlice<
        UInt8
    > {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.count)
        for index in text.indices {
            let octet = text[index]
            let isPercent = octet == UInt8(ascii: "%")
            // The function returns nil if the `%` is followed by two hexadecimal digits.
            let isTriplet = isPercent && URIByte.malformedTriplet(in: text[index...].prefix(3)) == nil
            if isTriplet || (!isPercent && isAllowed(octet)) {
                encoded.append(octet)
            } else {
                encoded += URIByte.percentEncoded(octet)
            }
        }
        return encoded[...]
    }

    // MARK: authority

    /// An authority: user info, host and port (RFC 3986 §3.2).
    private struct Authority {
        /// The host and, if the authority has one, the port after a colon, as in a URL.
        let hostAndPort: String
        /// The credential in the user info; nil for none.
        let credential: URLCredential?

        /// Parses an authority. Fails if there is none, or if its host or port is invalid.
        init?(_ octets: ArraySlice<UInt8>?) {
            guard let octets, !octets.isEmpty else { return nil }
            // The form is user@host:port. An IPv6 literal is in brackets and has colons itself.
            let atSign = octets.lastIndex(of: UInt8(ascii: "@"))
            let afterUserInfo = octets[(atSign.map { $0 + 1 } ?? octets.startIndex)...]
            let bracket = afterUserInfo.lastIndex(of: UInt8(ascii: "]"))
            let colon = afterUserInfo[(bracket ?? afterUserInfo.startIndex)...].firstIndex(
                of: UInt8(ascii: ":"))
            let host = afterUserInfo[..<(colon ?? afterUserInfo.endIndex)]
            guard let host = Self.host(host) else { return nil }
            if let colon {
                let digits = afterUserInfo[(colon + 1)...]
                // 0x30...0x39 are the digits.
                guard digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
                if digits.isEmpty {
                    self.hostAndPort = host
                } else {
                    guard let port = UInt16(RedirectTarget.text(digits)) else { return nil }
                    self.hostAndPort = host + ":" + String(port)
                }
            } else {
                self.hostAndPort = host
            }
            credential = atSign.flatMap { Self.credential(octets[..<$0]) }
        }

        /// Returns the host as in a URL: a name in canonical form, or an address, in brackets if it is IPv6. Nil if it is
        /// invalid.
        private static func host(_ octets: ArraySlice<UInt8>) -> String? {
            if octets.first == UInt8(ascii: "[") {
                guard octets.last == UInt8(ascii: "]") else { return nil }
                let literal = RedirectTarget.text(octets.dropFirst().dropLast())
                return IPv6Address(literal) == nil ? nil : "[" + literal + "]"
            }
            // `HostName.maxLength` allows for a name with each octet percent-encoded.
            guard octets.count <= HostName.maxLength else { return nil }
            let text = RedirectTarget.text(octets)
            let name = HostName.canonical(text.removingPercentEncoding ?? text)
            let hasValidOctets = name.utf8.allSatisfy {
                URIByte.isUnreserved($0) || URIByte.isSubDelimiter($0)
            }
            return name.isEmpty || !hasValidOctets ? nil : name
        }

        /// Returns the credential in user info; nil if there is no user, or if a session may not store the texts.
        private static func credential(_ octets: ArraySlice<UInt8>) -> URLCredential? {
            let colon = octets.firstIndex(of: UInt8(ascii: ":"))
            let decoded = { (text: ArraySlice<UInt8>) in
                RedirectTarget.text(text).removingPercentEncoding ?? RedirectTarget.text(text)
            }
            let user = decoded(octets[..<(colon ?? octets.endIndex)])
            guard !user.isEmpty else { return nil }
            let password = colon.map { decoded(octets[($0 + 1)...]) } ?? ""
            guard PeerText(user).canBeKept, PeerText(password).canBeKept else { return nil }
            return URLCredential(user: user, password: password, persistence: .forSession)
        }
    }
}
