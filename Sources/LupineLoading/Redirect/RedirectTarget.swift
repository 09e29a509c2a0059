// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The target of a `Location` field (RFC 3986 §5.2, RFC 9110 §10.2.2; U-10.1 to U-10.3). Pure.
///
/// Parsing is lenient: it percent-encodes characters that a URI must not contain, and a percent sign that begins no triplet. The
/// result is a URL that a request can be sent to; `RedirectRule` decides whether it may be sent there.
struct RedirectTarget: Sendable {
    /// The reason why there is no target.
    enum Failure: Error, Hashable, Sendable {
        /// The value cannot be resolved to a URL with a host.
        case unreadable
        /// The scheme is none of `http`, `https`, `ws` and `wss`, or not one for this kind of task.
        case unsupportedScheme(String)
    }

    /// The URL, without user info.
    let url: URL
    /// The user and password in the value; nil for none.
    let credential: URLCredential?

    /// Resolves the value of a `Location` field.
    ///
    /// - Parameters:
    ///   - location: The field's value.
    ///   - base: The URL of the response.
    ///   - isWebSocket: Whether the task is a WebSocket task: `http` then becomes `ws`.
    init(_ location: String, from base: URL, isWebSocket: Bool) throws(Failure) {
        let resolved = Self.resolve(
            Array(location.utf8), against: URIReference(Array(base.absoluteString.utf8)))
        let scheme = try Self.scheme(resolved.scheme, isWebSocket: isWebSocket)
        guard let authority = Authority(resolved.authority) else { throw .unreadable }
        var text = scheme + "://" + authority.server + Self.text(resolved.path)
        if let query = resolved.query { text += "?" + Self.text(query) }
        if let fragment = resolved.fragment { text += "#" + Self.text(fragment) }
        guard let url = URL(string: text), url.hostName?.isEmpty == false else {
            throw .unreadable
        }
        self.url = url
        credential = authority.credential
    }

    /// Returns the target's scheme; for a WebSocket task, the one for WebSockets.
    private static func scheme(_ octets: [UInt8], isWebSocket: Bool) throws(Failure) -> String {
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

    /// The parts of a resolved reference. All but the authority are percent-encoded.
    struct Parts: Hashable, Sendable {
        var scheme: [UInt8]
        var authority: [UInt8]?
        var path: [UInt8]
        var query: [UInt8]?
        var fragment: [UInt8]?

        /// The URI with these parts (RFC 3986 §5.3).
        var text: String {
            var octets = scheme + Array(":".utf8)
            if let authority { octets += Array("//".utf8) + authority }
            octets += path
            if let query { octets += Array("?".utf8) + query }
            if let fragment { octets += Array("#".utf8) + fragment }
            return RedirectTarget.text(octets)
        }
    }

    /// Resolves a reference against a base (RFC 3986 §5.2.2, strict). A reference without a fragment inherits the base's
    /// (RFC 9110 §10.2.2).
    static func resolve(_ reference: [UInt8], against base: URIReference) -> Parts {
        let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let end = reference.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? 0
        let target = URIReference(Array(reference[..<end].drop { blanks.contains($0) }))
        let path = escaped(target.path, URIByte.isPath)
        let query = target.query.map { escaped($0, URIByte.isQuery) }
        let fragment = (target.fragment ?? base.fragment).map { escaped($0, URIByte.isQuery) }
        if let scheme = target.scheme {
            return Parts(
                scheme: Array(scheme), authority: target.authority.map(Array.init),
                path: URIReference.removeDotSegments(path), query: query, fragment: fragment)
        }
        var parts = Parts(
            scheme: Array(base.scheme ?? []), authority: base.authority.map(Array.init),
            path: Array(base.path),
            query: query, fragment: fragment)
        if let authority = target.authority {
            parts.authority = Array(authority)
            parts.path = URIReference.removeDotSegments(path)
        } else if path.isEmpty {
            parts.query = query ?? base.query.map(Array.init)
        } else if path.first == UInt8(ascii: "/") {
            parts.path = URIReference.removeDotSegments(path)
        } else {
            parts.path = URIReference.removeDotSegments(URIReference.merge(base: base.path, reference: path))
        }
        return parts
    }

    /// Percent-encodes octets that are not allowed, and each `%` that begins no triplet.
    private static func escaped(_ text: ArraySlice<UInt8>, _ isAllowed: (UInt8) -> Bool) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.count)
        for index in text.indices {
            let octet = text[index]
            // 0x25 is "%".
            let isTriplet = octet == 0x25 && URIByte.malformedTriplet(in: text[index...].prefix(3)) == nil
            if isTriplet || (octet != 0x25 && isAllowed(octet)) {
                escaped.append(octet)
            } else {
                escaped += URIByte.percentEncoded(octet)
            }
        }
        return escaped
    }

    // MARK: authority

    /// User info, host and port of an authority (RFC 3986 §3.2).
    private struct Authority {
        /// Host and port as written in a URL.
        let server: String
        let credential: URLCredential?

        init?(_ octets: [UInt8]?) {
            guard let octets, !octets.isEmpty else { return nil }
            // The form is user@host:port. An IPv6 literal is in brackets and has colons itself.
            let at = octets.lastIndex(of: UInt8(ascii: "@"))
            let server = octets[(at.map { $0 + 1 } ?? 0)...]
            let bracket = server.lastIndex(of: UInt8(ascii: "]"))
            let colon = server[(bracket ?? server.startIndex)...].firstIndex(of: UInt8(ascii: ":"))
            let host = server[..<(colon ?? server.endIndex)]
            guard let host = Self.host(host) else { return nil }
            if let colon {
                let digits = server[(colon + 1)...]
                // 0x30...0x39 are the digits.
                guard digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
                if digits.isEmpty {
                    self.server = host
                } else {
                    guard let port = UInt16(RedirectTarget.text(digits)) else { return nil }
                    self.server = host + ":" + String(port)
                }
            } else {
                self.server = host
            }
            credential = at.flatMap { Self.credential(octets[..<$0]) }
        }

        /// Returns the host as written in a URL: a name in canonical form, or an address; nil if it is invalid.
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
            let isName = name.utf8.allSatisfy { URIByte.isUnreserved($0) || URIByte.isSubDelimiter($0) }
            return name.isEmpty || !isName ? nil : name
        }

        /// Returns the credential in user info; nil if there is no user, or if the texts are too long to be kept.
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
