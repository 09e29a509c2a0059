// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// What may be stored, under which key, and what makes it void (RFC 9111 §3, §4.3, §4.4). Pure.
enum CacheRule {
    /// The key of an address: all of it but the fragment, and but the user whom it names (U-12.2). A key names a file, so it has no
    /// secret in it; `VaryKey` tells the users apart.
    static func key(of url: URL) -> String {
        let text = url.partedFromUserInfo.address
        guard let fragment = text.position(of: UInt8(ascii: "#")) else { return text }
        return String(Substring(text.utf8.prefix(fragment)))
    }

    /// Whether the answer to a request may be stored (U-12.4), its content being whole and small enough.
    static func isStorable(_ response: HTTPURLResponse, for request: URLRequest) -> Bool {
        guard request.httpMethod == "GET", [200, 203, 204].contains(response.statusCode),
            request.value(forHTTPHeaderField: "Range") == nil
        else { return false }
        if forbidsStoring(response, for: request) { return false }
        return !VaryKey.names(in: response.value(of: .vary)).contains(
            where: VaryKey.isUnknown)
    }

    /// Whether the server or the caller said `no-store`: then nothing of it reaches a disk, whoever asks.
    static func forbidsStoring(_ response: HTTPURLResponse?, for request: URLRequest) -> Bool {
        if CachePlan.control(of: request).noStore { return true }
        guard let response else { return false }
        return CacheControl(of: response).noStore
    }

    /// Whether a server says that the response is the same for all users: of one who also says the contrary, the stricter
    /// counts.
    static func isForEverybody(_ response: HTTPURLResponse) -> Bool {
        let control = CacheControl(field: response.value(of: .cacheControl), pragma: nil)
        return control.isPublic && !control.isPrivate
    }

    /// The key of a request; nil for one whose answers are never stored.
    static func key(of request: URLRequest) -> String? { hasKey(request) ? request.url.map(key) : nil }

    /// Whether the request has a key.
    static func hasKey(_ request: URLRequest) -> Bool { request.httpMethod == "GET" && request.url != nil }

    /// The fields that ask the server whether a stored response is still good (U-12.13): what it said, word for word.
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

    /// Whether a 304 speaks of the stored response that was asked about, and not of another version of it (RFC 9111 §4.3.4).
    ///
    /// An `ETag` decides alone: two are the same if their opaque tags are, as `If-None-Match` compares (RFC 9110 §13.1.2), for
    /// servers that compress on the way say `W/` once and once not. Without it the date decides. Without either the 304 can
    /// only mean what the question named, which was one version.
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

    /// What the parser takes.
    private static let mostFields = ParserLimits().fieldCount

    private static func connectionOptions(of update: Fields) -> [String] {
        let octets = Array(update.values(of: .connection).joined(separator: ",").utf8)
        var names: [String] = []
        ListSyntax.forEachElement(in: octets.span, upTo: ListSyntax.mostElements) {
            names.append(String(decoding: octets[$0], as: UTF8.self))
        }
        return names
    }

    /// The fields of a stored response after a 304 (RFC 9111 §3.2): the new ones take the place of those of their
    /// name, save for what is about the connection or describes the content that was not sent.
    static func refreshed(_ stored: Fields, by update: Fields) -> Fields {
        var kept: Set<FieldName> = []
        for name in [
            "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Keep-Alive",
            "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection", "TE", "Trailer",
            "Transfer-Encoding", "Upgrade",
        ] + connectionOptions(of: update) {
            if let name = try? FieldName(name) { kept.insert(name) }
        }
        // The same tag but for its strength would say more of the content than was said when it came.
        if let tag = stored[.eTag], let new = update[.eTag], isSameTag(tag, new) { kept.insert(.eTag) }
        // A server may have a thousand names that are alike for long: each is looked up once, not compared with all.
        var known: Set<FieldName> = []
        for index in 0..<stored.count { known.insert(stored.fieldName(at: index)) }
        var replaced: Set<FieldName> = []
        var added = Fields()
        for index in 0..<update.count {
            let name = update.fieldName(at: index)
            if kept.contains(name) { continue }
            // No answer has more fields than that, and one that is confirmed again and again does not get there either.
            let isNew = !known.contains(name)
            if isNew, stored.count + added.count >= mostFields { continue }
            replaced.insert(name)
            // It was legal where it comes from.
            try? added.append(name, update.value(at: index))
        }
        var fields = stored
        fields.remove(replaced)
        fields.append(contentsOf: added)
        return fields
    }

    /// The addresses whose stored answers are void after a request (U-12.8): its own and those that the answer names, if
    /// they are of the same origin.
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
        guard let left = AuthenticationCandidate.Asker.server(of: left),
            let right = AuthenticationCandidate.Asker.server(of: right)
        else { return false }
        switch (left, right) {
        case (.server(let host, let port, let scheme), .server(let otherHost, let otherPort, let otherScheme)):
            return HostName.canonical(host) == HostName.canonical(otherHost) && port == otherPort
                && scheme == otherScheme
        case (.proxy, _), (.server, .proxy): return false
        }
    }
}
