// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// The components of a URL that decide where a request goes: the server, and the request target.
///
/// Path and query are sent as they are spelled (U-9.2): they are copied from the URL's text, and neither decoded nor encoded.
/// User, password and fragment are omitted, because they are never sent. `TransportURL`, the strict parser, validates the
/// authority.
struct RouteURL: Sendable {
    /// The server that the request goes to.
    let server: RouteServer
    /// The request target in origin form.
    let target: String
    /// Whether there is neither path nor query, so that OPTIONS applies to the server as a whole (RFC 9110 §9.3.7).
    let namesServerAlone: Bool

    /// Parses a URL of scheme `ws` or `wss` if `isWebSocket` is true, otherwise `http` or `https`.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - isWebSocket: Whether the scheme must be `ws` or `wss`.
    ///   - cachedServer: Returns the server that was parsed from a URL with the same spelling before, if there is one.
    /// - Throws: `TransportError.url` if the URL is not valid or has another scheme.
    init(
        _ url: URL, isWebSocket: Bool,
        cachedServer: (_ spelling: Span<UInt8>) -> RouteServer? = { _ in nil }
    ) throws(TransportError) {
        var text = url.absoluteString
        text.makeContiguousUTF8()
        let bytes = text.utf8.span
        guard let colon = bytes.firstIndex(from: 0, where: { $0 == UInt8(ascii: ":") }) else {
            throw .url(.missingScheme)
        }
        let schemeName = bytes.extracting(first: colon)
        let scheme: Origin.Scheme
        if schemeName.isName(isWebSocket ? "ws" : "http") {
            scheme = .http
        } else if schemeName.isName(isWebSocket ? "wss" : "https") {
            scheme = .https
        } else {
            throw .url(.unsupportedScheme(bytes.text(0..<colon).lowercased()))
        }
        // The authority begins after "://".
        let start = colon + 3
        let slash = UInt8(ascii: "/")
        guard bytes.count >= start, bytes[colon + 1] == slash, bytes[colon + 2] == slash else {
            throw .url(.missingAuthority(offset: colon + 1))
        }
        let end = bytes.firstIndex(from: start, where: Self.endsAuthority) ?? bytes.count
        // User information ends at the last "@" of the authority.
        var hostStart = start
        let atSign = UInt8(ascii: "@")
        while let index = bytes.extracting(first: end).firstIndex(from: hostStart, where: { $0 == atSign }) {
            hostStart = index + 1
        }
        target = try Self.target(bytes, from: end)
        namesServerAlone = end == bytes.count || bytes[end] == UInt8(ascii: "#")
        // A spelling with user information is not cached, because it may contain a password.
        let isCacheable = hostStart == start
        let spelling = bytes.extracting(first: end)
        if isCacheable, let cached = cachedServer(spelling) {
            server = cached
        } else {
            server = try RouteServer(
                scheme, authority: Self.inASCII(bytes.text(hostStart..<end)),
                spelling: isCacheable ? Array(text.utf8.prefix(end)) : [])
        }
    }

    /// Returns whether this byte ends the authority: `/`, `?` or `#` (RFC 3986 §3.2).
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Returns the authority with its host name decoded and then converted to ASCII. `URL` has converted all other names, but it
    /// does not change a percent-encoded one.
    private static func inASCII(_ authority: String) -> String {
        guard !authority.hasPrefix("["), authority.utf8.contains(UInt8(ascii: "%")) else { return authority }
        let end = authority.lastIndex(of: ":") ?? authority.endIndex
        guard let name = authority[..<end].removingPercentEncoding else { return authority }
        // A name that decodes to a delimiter, a space or a control character is returned unchanged. The strict parser rejects it.
        let isForbidden = { (byte: UInt8) in
            "/?#@:[]%".utf8.contains(byte) || byte <= UInt8(ascii: " ") || byte == 0x7F
        }
        if name.utf8.contains(where: isForbidden) { return authority }
        return HostName.canonical(name) + authority[end...]
    }

    /// Returns the request target that begins at `start`: path and query, without the fragment. Throws for a byte that a URI must
    /// not contain: a space or control character (up to 0x20, or 0x7F), or a byte outside of ASCII.
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
    /// Returns whether the bytes are equal to `name`, which is in lowercase, without regard to case.
    fileprivate func isName(_ name: String) -> Bool {
        guard count == name.utf8.count else { return false }
        var index = 0
        for letter in name.utf8 {
            // Setting bit 0x20 turns a capital letter into the lowercase one; no other byte becomes a letter.
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
