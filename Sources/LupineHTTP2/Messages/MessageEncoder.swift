// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Converts heads to header lists: RFC 9113 §8.2 and §8.3.
///
/// Connection-specific fields, and those that `Connection` names, are not sent. As in HTTP/1.1, the caller may not set the
/// framing fields (`Content-Length`, `Transfer-Encoding`), and the encoder throws if a message cannot be sent.
package enum MessageEncoder {
    /// Returns the header list of a request. `scheme` is that of its URL.
    package static func request(
        _ head: RequestHead, scheme: String, body: OutgoingBody
    ) throws(HTTPError) -> HeaderList {
        try head.target.validate(for: head.method)
        try body.validate()
        // The connection fields include the framing fields and `Host`. Most requests have none, and need no search for each.
        let mayContainConnectionFields = head.fields.mayContainConnectionFields
        if mayContainConnectionFields { try refuseFraming(head.fields) }
        var list = HeaderList()
        reserve(for: head, in: &list)
        list.append(":method", head.method.rawValue)
        switch head.target {
        // The target of CONNECT, which has neither `:scheme` nor `:path` (§8.5).
        case .authority:
            list.append(":authority", head.target.description)
        case .origin(let path):
            list.append(":scheme", scheme)
            try appendAuthority(head, mayHaveHost: mayContainConnectionFields, to: &list)
            list.append(":path", path, indexing: .without)
        case .asterisk:
            list.append(":scheme", scheme)
            try appendAuthority(head, mayHaveHost: mayContainConnectionFields, to: &list)
            list.append(":path", "*")
        case .absolute(let text):
            try appendAbsolute(text, head.method, to: &list)
        }
        // `expectsContent` is true for POST, PUT and PATCH, which announce even empty content.
        appendLength(body, announcesEmpty: head.method.expectsContent, to: &list)
        appendFields(head.fields, mayHaveTE: true, to: &list)
        return list
    }

    /// Returns the header list of a response, which may be an interim one.
    package static func response(
        _ head: ResponseHead, body: OutgoingBody
    ) throws(HTTPError) -> HeaderList {
        try body.validate()
        try refuseFraming(head.fields)
        var list = HeaderList()
        list.append(":status", String(head.status.code))
        appendLength(body, announcesEmpty: false, to: &list)
        appendFields(head.fields, mayHaveTE: false, to: &list)
        return list
    }

    /// Returns the header list of trailers. Throws if a field is not allowed in trailers.
    package static func trailers(_ fields: Fields) throws(HTTPError) -> HeaderList {
        for index in 0..<fields.count where !TrailerRule.allows(fields.name(at: index)) {
            throw .forbiddenTrailerToSend(Excerpt(fields.name(at: index)))
        }
        var list = HeaderList()
        appendFields(fields, mayHaveTE: false, to: &list)
        return list
    }

    // MARK: Parts of a message

    /// Throws if the caller has set a framing field.
    static func refuseFraming(_ fields: Fields) throws(HTTPError) {
        for name in [FieldName.contentLength, .transferEncoding] where fields.contains(name) {
            throw .framingFieldToSend(Excerpt(name.description))
        }
    }

    /// Reserves capacity for all fields of a request. Besides those of the head, there may be four pseudo-fields and
    /// `content-length`, which take about 128 octets without the path.
    static func reserve(for head: RequestHead, in list: inout HeaderList) {
        var pathCount = 0
        if case .origin(let path) = head.target { pathCount = path.utf8.count }
        list.reserve(fields: head.fields.count &+ 5, octets: head.fields.textCount &+ pathCount &+ 128)
    }

    /// Appends `:authority`: the value of the `Host` field if there is one, and otherwise the head's authority. `mayHaveHost` is
    /// false if the caller knows that there is no such field.
    static func appendAuthority(
        _ head: RequestHead, mayHaveHost: Bool, to list: inout HeaderList
    ) throws(HTTPError) {
        guard let index = mayHaveHost ? head.fields.firstIndex(of: .host) : nil else {
            guard let authority = head.authority else { throw .missingHostToSend }
            return authority.withField { list.append(name: ":authority".utf8.span, value: $0) }
        }
        guard head.fields.firstIndex(of: .host, from: index &+ 1) == nil else { throw .repeatedHostToSend }
        try head.fields.withValue(at: index) { host throws(HTTPError) in
            guard !host.isEmpty, Authority.isHostField(host) else { throw .invalidAuthority(Excerpt(host)) }
            list.append(name: ":authority".utf8.span, value: host)
        }
    }

    /// Splits `http://host/path?query`, the target of a request to a proxy, into its pseudo-fields. Userinfo is not sent
    /// (§8.3.1).
    private static func appendAbsolute(
        _ text: String, _ method: Method, to list: inout HeaderList
    ) throws(HTTPError) {
        // The scheme ends at the first `:`. The authority ends at a `/` or `?`, and userinfo in it at the last `@`.
        let parts = text.utf8.split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].starts(with: "//".utf8) else {
            throw .invalidTarget(Excerpt(text))
        }
        let afterScheme = parts[1].dropFirst(2)
        var host = afterScheme.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let path = afterScheme[host.endIndex...]
        if let atSign = host.lastIndex(of: UInt8(ascii: "@")) { host = host[host.index(after: atSign)...] }
        let hostText = String(Substring(host))
        guard !host.isEmpty, Authority.isHostField(hostText.utf8.span) else {
            throw .invalidAuthority(Excerpt(hostText))
        }
        list.append(":scheme", String(Substring(parts[0])))
        list.append(":authority", hostText)
        // OPTIONS without a path addresses the server as a whole (§8.3.1).
        let prefix: String
        if path.first == UInt8(ascii: "/") {
            prefix = ""
        } else {
            prefix = path.isEmpty && method == .options ? "*" : "/"
        }
        list.append(":path", prefix + String(Substring(path)), indexing: .without)
    }

    /// Appends `content-length` if the length of the body is known. Without a body, the length 0 is sent if `announcesEmpty`.
    private static func appendLength(_ body: OutgoingBody, announcesEmpty: Bool, to list: inout HeaderList) {
        switch body {
        case .none: if announcesEmpty { list.append("content-length", "0") }
        case .known(let length): list.append("content-length", String(length), indexing: .without)
        case .unknown: break
        }
    }

    /// Appends the fields with their names in lower case. Fields that are connection-specific or named by `Connection` are
    /// omitted, and so is `Host`, which `:authority` replaces. `TE` is sent only if `mayHaveTE`, and with the value `trailers`.
    static func appendFields(_ fields: Fields, mayHaveTE: Bool, to list: inout HeaderList) {
        let hasConnection = fields.contains(.connection)
        // One buffer for all names.
        var name: [UInt8] = []
        for index in 0..<fields.count {
            name.removeAll(keepingCapacity: true)
            fields.withName(at: index) { original in
                name.append(original, original.indices)
                // Converts A-Z to lower case. 0x41 is "A"; the subtraction wraps, so that only A-Z give less than 26.
                for position in name.indices where name[position] &- 0x41 < 26 { name[position] |= 0x20 }
            }
            let lowercased = name.span
            if FieldRule.isConnectionField(lowercased) || lowercased.isText("host") { continue }
            if hasConnection, isNamed(lowercased, in: fields) { continue }
            fields.withValue(at: index) { value in
                if lowercased.isText("te"), !mayHaveTE || !value.isText("trailers") { return }
                list.append(
                    name: lowercased, value: value,
                    indexing: rarelyRepeats(lowercased) ? .without : .incremental)
            }
        }
    }

    /// Returns whether a `Connection` field names the field.
    private static func isNamed(_ name: Span<UInt8>, in fields: Fields) -> Bool {
        let text = name.text(name.indices)
        return fields.indices(of: .connection).contains { index in
            fields.withValue(at: index) { ListSyntax.contains(text, in: $0) }
        }
    }

    /// Returns whether a field rarely has the same value twice, so that it is not worth the space in the dynamic table.
    private static func rarelyRepeats(_ name: Span<UInt8>) -> Bool {
        // Checks the length first: most names are then compared with no text at all.
        switch name.count {
        case 3: name.isText("age")
        case 4: name.isText("etag")
        case 5: name.isText("range")
        case 8: name.isText("location")
        case 13: name.isText("content-range") || name.isText("if-none-match") || name.isText("last-modified")
        case 17: name.isText("if-modified-since")
        default: false
        }
    }
}
