// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// The parts of a URL that decide where a request goes and what it asks for.
///
/// Path and query keep their spelling (U-9.2): they are cut out of the URL's text, never recomposed. User, password and
/// fragment are dropped, since they are never sent. The authority is validated by `TransportURL`, the one strict parser.
struct RouteURL: Sendable {
    /// The server that the request goes to.
    let server: RouteServer
    /// The request target in origin form.
    let target: String
    /// Whether there is neither path nor query, so that OPTIONS asks for the server as a whole (RFC 9110 §9.3.7).
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
        guard let colon = bytes.firstIndex(from: 0, where: { $0 == 0x3A }) else {
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
        guard bytes.count >= start, bytes[colon + 1] == 0x2F, bytes[colon + 2] == 0x2F else {
            throw .url(.missingAuthority(offset: colon + 1))
        }
        let end = bytes.firstIndex(from: start, where: Self.endsAuthority) ?? bytes.count
        var hostStart = start
        while let at = bytes.extracting(first: end).firstIndex(from: hostStart, where: { $0 == 0x40 }) {
            hostStart = at + 1
        }
        target = try Self.target(bytes, from: end)
        namesServerAlone = end == bytes.count || bytes[end] == 0x23
        // A spelling with user information is not kept.
        let isKept = hostStart == start
        let spelling = bytes.extracting(first: end)
        if isKept, let known = known(spelling) {
            server = known
        } else {
            server = try RouteServer(
                scheme, authority: Self.named(bytes.text(hostStart..<end)),
                spelling: isKept ? Array(text.utf8.prefix(end)) : [])
        }
    }

    /// Whether this byte ends the authority (RFC 3986 section 3.2).
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == 0x2F || byte == 0x3F || byte == 0x23
    }

    /// The authority with its name in ASCII: `URL` leaves percent-encoded names as they are.
    private static func named(_ authority: String) -> String {
        guard !authority.hasPrefix("["), authority.utf8.contains(0x25) else { return authority }
        let end = authority.lastIndex(of: ":") ?? authority.endIndex
        guard let name = authority[..<end].removingPercentEncoding else { return authority }
        // A name that decodes to a delimiter is left as it is, and the strict parser rejects it.
        guard !name.utf8.contains(where: { "/?#@:[]%".utf8.contains($0) || $0 <= 0x20 || $0 == 0x7F }) else {
            return authority
        }
        return HostName.canonical(name) + authority[end...]
    }

    private static func target(_ bytes: Span<UInt8>, from start: Int) throws(TransportError) -> String {
        let end = bytes.firstIndex(from: start, where: { $0 == 0x23 }) ?? bytes.count
        for place in start..<end where bytes[place] <= 0x20 || bytes[place] >= 0x7F {
            throw .url(.illegalByte(bytes[place], offset: place))
        }
        let target = bytes.text(start..<end)
        return start < end && bytes[start] == 0x2F ? target : "/" + target
    }
}

extension Span<UInt8> {
    /// Whether these are the letters of `name`, which is lowercase, in any mix of cases.
    fileprivate func isName(_ name: String) -> Bool {
        guard count == name.utf8.count else { return false }
        var place = 0
        for letter in name.utf8 {
            if self[place] | 0x20 != letter { return false }
            place += 1
        }
        return true
    }

    fileprivate func firstIndex(from start: Int, where isIt: (UInt8) -> Bool) -> Int? {
        var place = start
        while place < count {
            if isIt(self[place]) { return place }
            place += 1
        }
        return nil
    }
}
