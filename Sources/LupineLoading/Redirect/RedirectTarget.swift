// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Where a `Location` leads (RFC 3986 §5.2, RFC 9110 §10.2.2; U-10.1 to U-10.3). Pure.
///
/// What servers write there is read leniently: what no address may hold is percent-encoded, a percent sign that begins
/// nothing too. What is left must be an address that can be sent to; whose it is, is not judged here.
struct RedirectTarget: Sendable {
    /// Why there is no target.
    enum Failure: Error, Hashable, Sendable {
        /// No address can be made of it.
        case unreadable
        /// It leads out of the web.
        case foreignScheme(String)
    }

    /// The address, without a user.
    let url: URL
    /// The user that the target named.
    let credential: URLCredential?

    /// - Parameters:
    ///   - location: The field's value.
    ///   - base: The address of the response that has it.
    ///   - isWebSocket: Whether the task speaks the protocol of web sockets: `http` is then `ws`.
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

    private static func scheme(_ octets: [UInt8], isWebSocket: Bool) throws(Failure) -> String {
        let scheme = text(octets).lowercased()
        switch (scheme, isWebSocket) {
        case ("http", false), ("https", false), ("ws", true), ("wss", true): return scheme
        case ("http", true): return "ws"
        case ("https", true): return "wss"
        case (_, _): throw .foreignScheme(scheme)
        }
    }

    private static func text(_ octets: some Sequence<UInt8>) -> String {
        String(decoding: Array(octets), as: UTF8.self)
    }

    // MARK: resolution

    /// The parts of a resolved reference, escaped, but for the authority.
    struct Parts: Hashable, Sendable {
        var scheme: [UInt8]
        var authority: [UInt8]?
        var path: [UInt8]
        var query: [UInt8]?
        var fragment: [UInt8]?

        /// The address that the parts make (RFC 3986 §5.3).
        var text: String {
            var octets = scheme + [0x3A]
            if let authority { octets += [0x2F, 0x2F] + authority }
            octets += path
            if let query { octets += [0x3F] + query }
            if let fragment { octets += [0x23] + fragment }
            return RedirectTarget.text(octets)
        }
    }

    /// A reference under a base (RFC 3986 §5.2.2, strict). One without a fragment inherits the base's (RFC 9110 §10.2.2).
    static func resolve(_ reference: [UInt8], against base: URIReference) -> Parts {
        let blanks: Set<UInt8> = [0x20, 0x09]
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
        } else if path.first == 0x2F {
            parts.path = URIReference.removeDotSegments(path)
        } else {
            parts.path = URIReference.removeDotSegments(URIReference.merge(base: base.path, reference: path))
        }
        return parts
    }

    /// The text with all that may not stand there percent-encoded, and each `%` that begins no triplet.
    private static func escaped(_ text: ArraySlice<UInt8>, _ isAllowed: (UInt8) -> Bool) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.count)
        for place in text.indices {
            let octet = text[place]
            let isTriplet = octet == 0x25 && URIByte.malformedTriplet(in: text[place...].prefix(3)) == nil
            if isTriplet || (octet != 0x25 && isAllowed(octet)) {
                escaped.append(octet)
            } else {
                escaped += URIByte.percentEncoded(octet)
            }
        }
        return escaped
    }

    // MARK: who and where

    /// User, host and port, told apart (RFC 3986 §3.2).
    private struct Authority {
        /// Host and port as they stand in an address.
        let server: String
        let credential: URLCredential?

        init?(_ octets: [UInt8]?) {
            guard let octets, !octets.isEmpty else { return nil }
            let at = octets.lastIndex(of: 0x40)
            let server = octets[(at.map { $0 + 1 } ?? 0)...]
            let close = server.lastIndex(of: 0x5D)
            let colon = server[(close ?? server.startIndex)...].firstIndex(of: 0x3A)
            let host = server[..<(colon ?? server.endIndex)]
            guard let host = Self.host(host) else { return nil }
            if let colon {
                let digits = server[(colon + 1)...]
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

        private static func host(_ octets: ArraySlice<UInt8>) -> String? {
            if octets.first == 0x5B {
                guard octets.last == 0x5D else { return nil }
                let literal = RedirectTarget.text(octets.dropFirst().dropLast())
                return IPv6Address(literal) == nil ? nil : "[" + literal + "]"
            }
            // No name is longer, each of its octets percent-encoded.
            guard octets.count <= HostName.longest else { return nil }
            let text = RedirectTarget.text(octets)
            let name = HostName.canonical(text.removingPercentEncoding ?? text)
            let isName = name.utf8.allSatisfy { URIByte.isUnreserved($0) || URIByte.isSubDelimiter($0) }
            return name.isEmpty || !isName ? nil : name
        }

        private static func credential(_ octets: ArraySlice<UInt8>) -> URLCredential? {
            let colon = octets.firstIndex(of: 0x3A)
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
