// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The rules for what may be stored, under which key, and what invalidates it (RFC 9111 §3, §4.3, §4.4). Pure.
enum CacheRule {
    /// Returns the key of an address: the address without fragment and user information (U-12.2). Keys are written to disk, so
    /// they contain no secrets; `VaryKey` tells users apart.
    static func key(of url: URL) -> String {
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
        return !VaryKey.names(in: response.value(of: .vary)).contains(
            where: VaryKey.isUnknown)
    }

    /// Whether the server or the caller sent `no-store`: then nothing of the response may reach a disk.
    static func forbidsStoring(_ response: HTTPURLResponse?, for request: URLRequest) -> Bool {
        if CachePlan.control(of: request).noStore { return true }
        guard let response else { return false }
        return CacheControl(of: response).noStore
    }

    /// Whether the server declares the response the same for all users. If it says both `public` and `private`, `private` counts.
    static func isDeclaredPublic(_ response: HTTPURLResponse) -> Bool {
        let control = CacheControl(field: response.value(of: .cacheControl), pragma: nil)
        return control.isPublic && !control.isPrivate
    }

    /// Returns the key of a request; nil for one whose responses are never stored.
    static func key(of request: URLRequest) -> String? { hasKey(request) ? request.url.map(key) : nil }

    /// Whether the request has a key.
    static func hasKey(_ request: URLRequest) -> Bool { request.httpMethod == "GET" && request.url != nil }

    /// Returns the fields that ask the server to validate a stored response (U-12.13), with the server's own values, octet for
    /// octet.
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

    /// Whether a 304 refers to the stored response that was validated, and not to another version of it (RFC 9111 §4.3.4).
    ///
    /// An `ETag` decides alone. Tags are compared weakly, as for `If-None-Match` (RFC 9110 §13.1.2), because servers that
    /// compress on the fly send `W/` inconsistently. Without an `ETag`, `Last-Modified` decides. Without both, the 304 can only
    /// mean the one version that was asked about.
    static func selects(_ update: HTTPURLResponse, _ stored: HTTPURLResponse) -> Bool {
        if let tag = update.value(of: .eTag) {
            return stored.value(of: .eTag).map { isSameTag($0, tag) } ?? false
        }
        if let date = update.value(of: .lastModified) {
            guard let known = stored.value(of: .lastModified) else { return false }
            if known.hasSameOctets(as: date) { return true }
            return HTTPDate.moment(of: known).map { $0 == HTTPDate.moment(of: date) } ?? false
        }
        return true
    }

    private static func isSameTag(_ left: String, _ right: String) -> Bool {
        opaque(left).elementsEqual(opaque(right))
    }

    private static func opaque(_ tag: String) -> Substring.UTF8View {
        tag.utf8.starts(with: "W/".utf8) ? tag.utf8.dropFirst(2) : tag.utf8[...]
    }

    /// The largest number of fields that the parser accepts.
    private static let mostFields = ParserLimits().fieldCount

    private static func connectionOptions(of update: Fields) -> [String] {
        let octets = Array(update.values(of: .connection).joined(separator: ",").utf8)
        var names: [String] = []
        ListSyntax.forEachElement(in: octets.span, upTo: ListSyntax.mostElements) {
            names.append(String(decoding: octets[$0], as: UTF8.self))
        }
        return names
    }

    /// Returns the fields of a stored response after a 304 (RFC 9111 §3.2): the new fields replace those of the same name, except
    /// for fields that concern the connection or describe the content, which was not sent.
    static func refreshed(_ stored: Fields, by update: Fields) -> Fields {
        var kept: Set<FieldName> = []
        for name in [
            "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Keep-Alive",
            "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection", "TE", "Trailer",
            "Transfer-Encoding", "Upgrade",
        ] + connectionOptions(of: update) {
            if let name = try? FieldName(name) { kept.insert(name) }
        }
        // A tag that differs in its strength only must not change the strength that was stated for the stored content.
        if let tag = stored[.eTag], let new = update[.eTag], isSameTag(tag, new) { kept.insert(.eTag) }
        // A server may send a thousand names with a long common prefix: each is looked up once, not compared with all.
        var known: Set<FieldName> = []
        for index in 0..<stored.count { known.insert(stored.fieldName(at: index)) }
        var replaced: Set<FieldName> = []
        var added = Fields()
        for index in 0..<update.count {
            let name = update.fieldName(at: index)
            if kept.contains(name) { continue }
            // Keeps within the parser's limit, also when a response is validated again and again.
            let isNew = !known.contains(name)
            if isNew, stored.count + added.count >= mostFields { continue }
            replaced.insert(name)
            // Cannot fail: the field was valid in the 304.
            try? added.append(name, update.value(at: index))
        }
        var fields = stored
        fields.remove(replaced)
        fields.append(contentsOf: added)
        return fields
    }

    /// Returns the addresses whose stored responses a request invalidates (U-12.8): its own, and those that the response names,
    /// if they have the same origin.
    static func voided(by request: URLRequest, response: HTTPURLResponse) -> [URL] {
        let isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "GET")
        guard !isSafe, (200..<400).contains(response.statusCode), let url = request.url else { return [] }
        var voided = [url]
        for name in ["Location", "Content-Location"] {
            guard let text = response.value(forHTTPHeaderField: name),
                let named = URL(string: text, relativeTo: url)?.absoluteURL, isSameOrigin(named, url)
            else { continue }
            voided.append(named)
        }
        return voided
    }

    private static func isSameOrigin(_ left: URL, _ right: URL) -> Bool {
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
