// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The rules of HTTP for storing, validating and invalidating responses (RFC 9111 §3, §4.3, §4.4). The functions have no side
/// effects.
enum CacheRule {
    /// Returns the key of a URL: its text without fragment and user information (U-12.2). Keys are written to disk, so they must
    /// not contain a user's password. `VaryKey` tells users apart.
    static func key(of url: URL) -> String {
        let absoluteText = url.absoluteString
        // A fast path with one pass, because most URLs have neither.
        let octets = absoluteText.utf8.span
        let mayHaveParts = octets.indices.contains {
            octets[$0] == UInt8(ascii: "@") || octets[$0] == UInt8(ascii: "#")
        }
        if !mayHaveParts { return absoluteText }
        let text = url.splitAtUserInfo.address
        guard let fragment = text.position(of: UInt8(ascii: "#")) else { return text }
        return String(Substring(text.utf8.prefix(fragment)))
    }

    /// Whether the response to a request may be stored (U-12.4), provided that its content is complete and small enough.
    static func isStorable(_ response: HTTPURLResponse, for request: URLRequest) -> Bool {
        guard request.httpMethod == "GET", [200, 203, 204].contains(response.statusCode),
            request.value(forHTTPHeaderField: "Range") == nil
        else { return false }
        if forbidsStoring(response, for: request) { return false }
        // `isUnknown`: the value of such a field in a later request cannot be known.
        return !VaryKey.names(in: response.value(of: .vary)).contains(
            where: VaryKey.isUnknown)
    }

    /// Whether the request or the response has `no-store`, so that the response must not be written to disk.
    static func forbidsStoring(_ response: HTTPURLResponse?, for request: URLRequest) -> Bool {
        if CachePlan.control(of: request).noStore { return true }
        guard let response else { return false }
        return CacheControl(of: response).noStore
    }

    /// Whether the server declares that the response is the same for all users: by `public` without `private`.
    static func isDeclaredPublic(_ response: HTTPURLResponse) -> Bool {
        let control = CacheControl(field: response.value(of: .cacheControl), pragma: nil)
        return control.isPublic && !control.isPrivate
    }

    /// Returns the key of a request; nil for a request whose responses are never stored.
    static func key(of request: URLRequest) -> String? { hasKey(request) ? request.url.map(key) : nil }

    /// Whether the request has a key.
    static func hasKey(_ request: URLRequest) -> Bool { request.httpMethod == "GET" && request.url != nil }

    /// Whether a stored response can be validated: `conditions(of:)` then has a field.
    static func hasValidator(_ stored: HTTPURLResponse) -> Bool {
        stored.hasField(.eTag) || stored.hasField(.lastModified)
    }

    /// Returns the fields of a conditional request that validates a stored response (U-12.13). Their values have the octets that
    /// the server has sent.
    static func conditions(of stored: HTTPURLResponse) -> [HeaderList.Field] {
        var conditions: [HeaderList.Field] = []
        if let tag = stored.value(of: .eTag) {
            conditions.append(HeaderList.Field(name: "If-None-Match", value: tag))
        }
        if let date = stored.value(of: .lastModified) {
            conditions.append(HeaderList.Field(name: "If-Modified-Since", value: date))
        }
        return conditions
    }

    /// Whether a 304 confirms the stored response, and not another version of it (RFC 9111 §4.3.4).
    ///
    /// If the 304 has an `ETag`, only tags are compared: weakly, as for `If-None-Match` (RFC 9110 §13.1.2), because servers that
    /// compress on the fly send `W/` inconsistently. Otherwise `Last-Modified` is compared. A 304 with neither field
    /// selects the stored response, because only one version was validated.
    static func selects(_ update: HTTPURLResponse, _ stored: HTTPURLResponse) -> Bool {
        if let tag = update.value(of: .eTag) {
            return stored.value(of: .eTag).map { isSameTag($0, tag) } ?? false
        }
        if let date = update.value(of: .lastModified) {
            guard let storedDate = stored.value(of: .lastModified) else { return false }
            if storedDate.hasSameOctets(as: date) { return true }
            // HTTP has three formats of a date.
            return HTTPDate.date(from: storedDate).map { $0 == HTTPDate.date(from: date) } ?? false
        }
        return true
    }

    /// Whether two entity tags are equal in the weak comparison (RFC 9110 §8.8.3.2).
    private static func isSameTag(_ left: String, _ right: String) -> Bool {
        opaque(left).elementsEqual(opaque(right))
    }

    /// Returns the tag without the mark of a weak one.
    private static func opaque(_ tag: String) -> Substring.UTF8View {
        tag.utf8.starts(with: "W/".utf8) ? tag.utf8.dropFirst(2) : tag.utf8[...]
    }

    /// The largest number of fields that the parser accepts.
    private static let maxFieldCount = ParserLimits().fieldCount

    /// Returns the names of fields that `Connection` lists, and which concern the connection alone (RFC 9110 §7.6.1).
    private static func connectionOptions(of fields: Fields) -> [String] {
        let octets = Array(fields.values(of: .connection).joined(separator: ",").utf8)
        var names: [String] = []
        ListSyntax.forEachElement(in: octets.span, upTo: ListSyntax.elementLimit) {
            names.append(String(decoding: octets[$0], as: UTF8.self))
        }
        return names
    }

    /// The fields of a 304 that do not replace stored ones: those that concern the connection, or describe the content.
    private static let neverRefreshed = RedirectMove.names([
        "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Keep-Alive",
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection", "TE", "Trailer",
        "Transfer-Encoding", "Upgrade",
    ])

    /// Returns the fields of a stored response after a 304 (RFC 9111 §3.2). The fields of the 304 replace stored fields of the
    /// same name. Fields that concern the connection, or that describe the content, are not replaced, because a 304 has no
    /// content.
    static func refreshed(_ stored: Fields, by update: Fields) -> Fields {
        let options = Set(connectionOptions(of: update).compactMap { try? FieldName($0) })
        // A tag that differs only in its strength must not replace the tag that came with the stored content.
        let keepsTag =
            if let tag = stored[.eTag], let new = update[.eTag] { isSameTag(tag, new) } else { false }
        // The parser's limit, which the fields of several 304s could exceed together.
        let mayExceedLimit = stored.count + update.count > maxFieldCount
        // A set, because a server may send a thousand names with a long common prefix, which are slow to compare with each other.
        var storedNames: Set<FieldName> = []
        if mayExceedLimit {
            for index in 0..<stored.count { storedNames.insert(stored.fieldName(at: index)) }
        }
        var added = Fields()
        for index in 0..<update.count {
            let name = update.fieldName(at: index)
            if neverRefreshed.contains(name) || options.contains(name) || keepsTag && name == .eTag {
                continue
            }
            if mayExceedLimit, stored.count + added.count >= maxFieldCount, !storedNames.contains(name) {
                continue
            }
            added.append(fieldOf: update, at: index)
        }
        var fields = stored
        fields.replace(by: added)
        return fields
    }

    /// Returns the URLs whose stored responses an unsafe request invalidates (RFC 9111 §4.4; U-12.8): its own URL, and the
    /// URLs in `Location` and `Content-Location` of the response, if they have the same origin.
    static func invalidatedURLs(by request: URLRequest, response: HTTPURLResponse) -> [URL] {
        let isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "GET")
        guard !isSafe, (200..<400).contains(response.statusCode), let url = request.url else { return [] }
        var invalidated = [url]
        for name in ["Location", "Content-Location"] {
            guard let text = response.value(forHTTPHeaderField: name),
                let named = URL(string: text, relativeTo: url)?.absoluteURL, isSameOrigin(named, url)
            else { continue }
            invalidated.append(named)
        }
        return invalidated
    }

    /// Whether two URLs have the same scheme, host and port; false if one has no host.
    private static func isSameOrigin(_ left: URL, _ right: URL) -> Bool {
        // A challenger has the scheme, host and port of a URL, with default ports filled in.
        guard let left = AuthenticationCandidate.Challenger.server(of: left),
            let right = AuthenticationCandidate.Challenger.server(of: right)
        else { return false }
        switch (left, right) {
        case (.server(let host, let port, let scheme), .server(let otherHost, let otherPort, let otherScheme)):
            return HostName.canonical(host) == HostName.canonical(otherHost) && port == otherPort
                && scheme == otherScheme
        case (.proxy, _), (.server, .proxy): return false
        }
    }
}
