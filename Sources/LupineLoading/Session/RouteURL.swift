// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// What of a URL decides where a request goes and what it asks for there.
///
/// Path and query keep their spelling (U-9.2): they are cut out of the URL's text, never composed anew. User, password and
/// fragment are dropped, since they are never sent. The authority is judged by `TransportURL`, the one strict reader.
struct RouteURL {
    /// How it is reached; a web socket's schemes count as those of HTTP.
    let scheme: Origin.Scheme
    /// A name in ASCII, or an address without brackets; with its zone, where an address has one.
    let host: String
    /// The same without a zone.
    let nameWithoutZone: String
    let port: UInt16
    /// The value of `Host`.
    let hostField: String
    /// The request target in origin form.
    let target: String

    /// Reads a URL; with `isWebSocket` of `ws` and `wss`, else of `http` and `https`.
    init(_ url: URL, isWebSocket: Bool) throws(TransportError) {
        let text = Array(url.absoluteString.utf8)
        guard let colon = text.firstIndex(of: 0x3A) else { throw .url(.missingScheme) }
        let name = String(decoding: text[..<colon], as: UTF8.self).lowercased()
        switch (name, isWebSocket) {
        case ("http", false), ("ws", true): scheme = .http
        case ("https", false), ("wss", true): scheme = .https
        default: throw .url(.unsupportedScheme(name))
        }
        guard text[(colon + 1)...].starts(with: "//".utf8) else {
            throw .url(.missingAuthority(offset: colon + 1))
        }
        let start = colon + 3
        let end = text[start...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? text.endIndex
        let hostStart = text[start..<end].lastIndex(of: 0x40).map { $0 + 1 } ?? start
        let authority = Self.named(String(decoding: text[hostStart..<end], as: UTF8.self))
        let fragment = text[end...].firstIndex(of: 0x23) ?? text.endIndex
        target = try Self.target(text[end..<fragment])
        let origin: TransportURL
        do throws(TransportURLError) {
            origin = try TransportURL((scheme == .https ? "https://" : "http://") + authority)
        } catch { throw .url(error) }
        host = origin.zone.map { origin.host + "%" + $0 } ?? origin.host
        nameWithoutZone = origin.host
        port = origin.port
        hostField = origin.hostField
    }

    /// The authority with its name in ASCII: `URL` leaves names as they are that are percent-encoded.
    private static func named(_ authority: String) -> String {
        guard !authority.hasPrefix("["), authority.utf8.contains(0x25) else { return authority }
        let end = authority.lastIndex(of: ":") ?? authority.endIndex
        guard let name = authority[..<end].removingPercentEncoding else { return authority }
        // What decodes to a delimiter is no name: the strict reader refuses it as it stands.
        guard !name.utf8.contains(where: { "/?#@:[]%".utf8.contains($0) || $0 <= 0x20 || $0 == 0x7F }) else {
            return authority
        }
        return HostName.canonical(name) + authority[end...]
    }

    private static func target(_ text: ArraySlice<UInt8>) throws(TransportError) -> String {
        for place in text.indices where text[place] <= 0x20 || text[place] >= 0x7F {
            throw .url(.illegalByte(text[place], offset: place))
        }
        let target = String(decoding: text, as: UTF8.self)
        return target.hasPrefix("/") ? target : "/" + target
    }
}
