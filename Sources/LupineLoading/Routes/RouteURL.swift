// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// The parts of a URL that decide where a request goes: the server, and the request target.
///
/// Path and query keep their spelling (U-9.2): they are copied from the URL's text, never recomposed. User, password and
/// fragment are left out, since they are never sent. The authority is validated by `TransportURL`, the one strict parser.
struct RouteURL: Sendable {
    /// The server that the request goes to.
    let server: RouteServer
    /// The request target in origin form.
    let target: String
    /// Whether there is neither path nor query, so that OPTIONS applies to the server as a whole (RFC 9110 §9.3.7).
    let namesServerAlone: Bool

    /// Parses a URL of scheme `ws` or `wss` if `isWebSocket` is true, otherwise `http` or `https`.
    ///
    /// - Parameter known: Returns the server that was parsed from the same spelling before, if there is one.
    init(
        _ url: URL, isWebSocket: Bool, known: (_ spelling: Span<UInt8>) -> RouteServer? = { _ in nil }
    ) throws(TransportError) {
        var text = url.absoluteString
        text.makeContiguousUTF8()
        let bytes = text.utf8.span
        guard let colon = bytes.firstIndex(from: 0, where: { $0 == UInt8(ascii: ":") }) else {
            throw .url(.missingScheme)
        }
        let name = bytes.extracting(first: colon)
        let scheme: Origin.Scheme
        if name.isName(isWebSocket ? "ws" : "http") {
            scheme = .http
        } else if name.isName(isWebSocket ? "wss" : "https") {
            scheme = .https
        } else {
            throw .url(.unsupportedScheme(bytes.text(0..<colon).lowercased()))
        }
        let start = colon + 3
        let slash = UInt8(ascii: "/")
        guard bytes.count >= start, bytes[colon + 1] == slash, bytes[colon + 2] == slash else {
            throw .url(.missingAuthority(offset: colon + 1))
        }
        let end = bytes.firstIndex(from: start, where: Self.endsAuthority) ?? bytes.count
        // User info ends at the last "@" (0x40) of the authority.
        var hostStart = start
        while let at = bytes.extracting(first: end).firstIndex(from: hostStart, where: { $0 == 0x40 }) {
            hostStart = at + 1
        }
        target = try Self.target(bytes, from: end)
        namesServerAlone = end == bytes.count || bytes[end] == UInt8(ascii: "#")
        // A spelling with user info is not kept, because it may contain a password.
        let isKept = hostStart == start
        let spelling = bytes.extracting(first: end)
        if isKept, let known = known(spelling) {
            server = known
        } else {
            server = try RouteServer(
                scheme, authority: Self.inASCII(bytes.text(hostStart..<end)),
                spelling: isKept ? Array(text.utf8.prefix(end)) : [])
        }
    }

    /// Whether this byte ends the authority: `/`, `?` or `#` (RFC 3986 §3.2).
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Returns the authority with its host name in ASCII: `URL` leaves a percent-encoded name as it is.
    private static func inASCII(_ authority: String) -> String {
        guard !authority.hasPrefix("["), authority.utf8.contains(UInt8(ascii: "%")) else { return authority }
        let end = authority.lastIndex(of: ":") ?? authority.endIndex
        guard let name = authority[..<end].removingPercentEncoding else { return authority }
        // Returns a name that decodes to a delimiter as it is; the strict parser rejects it.
        guard !name.utf8.contains(where: { "/?#@:[]%".utf8.contains($0) || $0 <= 0x20 || $0 == 0x7F }) else {
            return authority
        }
        return HostName.canonical(name) + authority[end...]
    }

    /// Returns the request target that begins at `start`: path and query, without the fragment. Throws for a byte that a URI must
    /// not contain: white space, a control character, or one outside of ASCII.
    private static func target(_ bytes: Span<UInt8>, from start: Int) throws(TransportError) -> String {
        let end = bytes.firstIndex(from: start, where: { $0 == UInt8(ascii: "#") }) ?? bytes.count
        for index in start..<end where bytes[index] <= 0x20 || bytes[index] >= 0x7F {
            throw .url(.illegalByte(bytes[index], offset: index))
        }
        let target = bytes.text(start..<end)
        return start < end && bytes[start] == UInt8(ascii: "/") ? target : "/" + target
    }
}

extension Span<UInt8> {
    /// Whether the bytes spell `name`, which is lowercase, in any case.
    fileprivate func isName(_ name: String) -> Bool {
        guard count == name.utf8.count else { return false }
        var index = 0
        for letter in name.utf8 {
            // Setting bit 0x20 turns a capital, and no other byte, into a lowercase letter.
            if self[index] | 0x20 != letter { return false }
            index += 1
        }
        return true
    }

    /// Returns the index of the first byte at or after `start` that satisfies `isMatch`; nil for none.
    fileprivate func firstIndex(from start: Int, where isMatch: (UInt8) -> Bool) -> Int? {
        var index = start
        while index < count {
            if isMatch(self[index]) { return index }
            index += 1
        }
        return nil
    }
}
