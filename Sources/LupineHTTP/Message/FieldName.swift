// SPDX-License-Identifier: MIT

/// A field name. It is sent as spelled, and compared case-insensitively (RFC 9110 §5.1).
public struct FieldName: Sendable, Hashable, CustomStringConvertible {
    /// The octets of the name as spelled, which are a token.
    let octets: [UInt8]
    /// A hash of the name, which is compared before the octets.
    let tag: Tag

    /// Creates a name in any spelling. Throws `HTTPError.invalidNameToSend` if it is not a token of at most 65,535 octets.
    public init(_ name: String) throws(HTTPError) {
        let spelled = name.utf8.span
        guard Self.isName(spelled) else { throw .invalidNameToSend(Excerpt(name)) }
        tag = Tag(spelled, 0, spelled.count)
        octets = Self.wellKnownOctets(tag, spelled) ?? Array(name.utf8)
    }

    /// Whether a field name is valid: a token of at most 65,535 octets.
    package static func isName(_ octets: Span<UInt8>) -> Bool {
        !octets.isEmpty && octets.count <= Fields.maximumNameLength
            && OctetScan.endOfToken(octets, from: 0, to: octets.count) == octets.count
    }

    /// Returns the stored octets of a well-known name in exactly this spelling, so that equal names share one array. Returns nil
    /// for any other name.
    private static func wellKnownOctets(_ tag: Tag, _ spelled: Span<UInt8>) -> [UInt8]? {
        for known in wellKnown[Int(tag.value) % wellKnown.count] {
            if known.tag == tag, known.octets.count == spelled.count, known.isSpelled(spelled) {
                return known.octets
            }
        }
        return nil
    }

    /// The well-known names, indexed by their tags modulo 256.
    private static let wellKnown: [[FieldName]] = {
        var table = [[FieldName]](repeating: [], count: 256)
        for name in allWellKnown { table[Int(name.tag.value) % table.count].append(name) }
        return table
    }()

    /// Whether the name has exactly these octets. The caller has compared the lengths.
    private func isSpelled(_ bytes: Span<UInt8>) -> Bool {
        for index in octets.indices where octets[index] != bytes[index] { return false }
        return true
    }

    /// Whether the name begins with `Proxy-`.
    package var isForProxy: Bool { octets.count > 6 && Self.proxyPrefix.matches(octets.span, 0) }

    private static let proxyPrefix = FieldName(wellKnown: "Proxy-")

    /// A name that is known to be a token.
    private init(wellKnown name: String) {
        let spelled = Array(name.utf8)
        octets = spelled
        tag = Tag(spelled.span, 0, spelled.count)
    }

    /// The name in `range` of `bytes`, which the caller has validated as a token.
    package init(validated bytes: Span<UInt8>, _ range: Range<Int>) {
        var spelled: [UInt8] = []
        spelled.append(bytes, range)
        octets = spelled
        tag = Tag(bytes, range.lowerBound, range.upperBound)
    }

    /// A hash of a name, made of its length and its first and last octets. Equal names have equal tags, and most different names
    /// have different ones, so that a look-up compares the octets of about one name.
    struct Tag: Hashable, Sendable {
        let value: UInt16

        /// The tag of the name in `start..<end`, which is not empty.
        @inline(__always)
        init(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
            self.init(length: end &- start, first: bytes[start], last: bytes[end &- 1])
        }

        /// The tag of a name of that length with these first and last octets.
        @inline(__always)
        init(length: Int, first: UInt8, last: UInt8) {
            // The bit 0x20 makes letters lower-case. The factor 7 gives different tags to names that differ only in the order of
            // their first and last letters.
            let letters = ((first | 0x20) &* 7) ^ (last | 0x20)
            value = UInt16(truncatingIfNeeded: length & 0xFF) << 8 | UInt16(letters)
        }

        /// A filter that contains only this tag: one of 64 bits, which several tags share.
        @inline(__always)
        var filter: TagFilter { TagFilter(rawValue: 1 << UInt64((value ^ (value >> 8)) & 63)) }

        // The first and last letters as ASCII codes, such as 0x63 (c) and 0x68 (h) of "content-length".
        static let contentLength = Tag(length: 14, first: 0x63, last: 0x68)
        static let transferEncoding = Tag(length: 17, first: 0x74, last: 0x67)
        static let connection = Tag(length: 10, first: 0x63, last: 0x6E)
        static let host = Tag(length: 4, first: 0x68, last: 0x74)
        static let upgrade = Tag(length: 7, first: 0x75, last: 0x65)
    }

    /// A set of tags, stored as a Bloom filter: a tag that was not inserted may seem to be contained, if it shares its bit with
    /// an inserted tag.
    struct TagFilter: OptionSet, Sendable {
        let rawValue: UInt64

        /// The tags of the fields that frame a message, name its host or concern its connection.
        static let connectionFields: TagFilter = [
            Tag.contentLength.filter, Tag.transferEncoding.filter, Tag.connection.filter, Tag.host.filter,
            Tag.upgrade.filter,
        ]
    }

    public static func == (left: FieldName, right: FieldName) -> Bool {
        left.tag == right.tag && left.octets.count == right.octets.count
            && left.matches(right.octets.span, 0)
    }

    /// Hashes eight octets at a time. The bit 0x20 makes letters lower-case. It also makes some different octets equal, which only
    /// makes more names share a hash.
    public func hash(into hasher: inout Hasher) {
        let name = octets.span
        var word: UInt64 = 0
        for index in name.indices {
            word = word << 8 | UInt64(name[index] | 0x20)
            if index % 8 == 7 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
    }

    /// Whether the octets from `start` on are this name, compared case-insensitively. The caller has compared the lengths.
    @inline(__always)
    func matches(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
        let name = octets.span
        for index in 0..<name.count {
            let expected = name[index]
            let octet = bytes[start &+ index]
            if expected != octet, Octet.lowercased(expected) != Octet.lowercased(octet) { return false }
        }
        return true
    }

    public var description: String { octets.span.text(0..<octets.count) }
}

/// The names of the fields that Lupine itself reads or writes.
extension FieldName {
    /// `Accept`
    public static let accept = FieldName(wellKnown: "Accept")
    /// `Accept-Encoding`
    public static let acceptEncoding = FieldName(wellKnown: "Accept-Encoding")
    /// `Accept-Language`
    public static let acceptLanguage = FieldName(wellKnown: "Accept-Language")
    /// `Accept-Ranges`
    public static let acceptRanges = FieldName(wellKnown: "Accept-Ranges")
    /// `Age`
    public static let age = FieldName(wellKnown: "Age")
    /// `Allow`
    public static let allow = FieldName(wellKnown: "Allow")
    /// `Authorization`
    public static let authorization = FieldName(wellKnown: "Authorization")
    /// `Cache-Control`
    public static let cacheControl = FieldName(wellKnown: "Cache-Control")
    /// `Connection`
    public static let connection = FieldName(wellKnown: "Connection")
    /// `Content-Disposition`
    public static let contentDisposition = FieldName(wellKnown: "Content-Disposition")
    /// `Content-Encoding`
    public static let contentEncoding = FieldName(wellKnown: "Content-Encoding")
    /// `Content-Length`
    public static let contentLength = FieldName(wellKnown: "Content-Length")
    /// `Content-Range`
    public static let contentRange = FieldName(wellKnown: "Content-Range")
    /// `Content-Type`
    public static let contentType = FieldName(wellKnown: "Content-Type")
    /// `Cookie`
    public static let cookie = FieldName(wellKnown: "Cookie")
    /// `Date`
    public static let date = FieldName(wellKnown: "Date")
    /// `ETag`
    public static let eTag = FieldName(wellKnown: "ETag")
    /// `Expect`
    public static let expect = FieldName(wellKnown: "Expect")
    /// `Expires`
    public static let expires = FieldName(wellKnown: "Expires")
    /// `Host`
    public static let host = FieldName(wellKnown: "Host")
    /// `If-Modified-Since`
    public static let ifModifiedSince = FieldName(wellKnown: "If-Modified-Since")
    /// `If-None-Match`
    public static let ifNoneMatch = FieldName(wellKnown: "If-None-Match")
    /// `If-Range`
    public static let ifRange = FieldName(wellKnown: "If-Range")
    /// `Keep-Alive`
    public static let keepAlive = FieldName(wellKnown: "Keep-Alive")
    /// `Last-Modified`
    public static let lastModified = FieldName(wellKnown: "Last-Modified")
    /// `Location`
    public static let location = FieldName(wellKnown: "Location")
    /// `Pragma`
    public static let pragma = FieldName(wellKnown: "Pragma")
    /// `Proxy-Authenticate`
    public static let proxyAuthenticate = FieldName(wellKnown: "Proxy-Authenticate")
    /// `Proxy-Authorization`
    public static let proxyAuthorization = FieldName(wellKnown: "Proxy-Authorization")
    /// `Range`
    public static let range = FieldName(wellKnown: "Range")
    /// `Referer`
    public static let referer = FieldName(wellKnown: "Referer")
    /// `Retry-After`
    public static let retryAfter = FieldName(wellKnown: "Retry-After")
    /// `Sec-WebSocket-Accept`
    public static let secWebSocketAccept = FieldName(wellKnown: "Sec-WebSocket-Accept")
    /// `Sec-WebSocket-Extensions`
    public static let secWebSocketExtensions = FieldName(wellKnown: "Sec-WebSocket-Extensions")
    /// `Sec-WebSocket-Key`
    public static let secWebSocketKey = FieldName(wellKnown: "Sec-WebSocket-Key")
    /// `Sec-WebSocket-Protocol`
    public static let secWebSocketProtocol = FieldName(wellKnown: "Sec-WebSocket-Protocol")
    /// `Sec-WebSocket-Version`
    public static let secWebSocketVersion = FieldName(wellKnown: "Sec-WebSocket-Version")
    /// `Server`
    public static let server = FieldName(wellKnown: "Server")
    /// `Set-Cookie`
    public static let setCookie = FieldName(wellKnown: "Set-Cookie")
    /// `TE`
    public static let te = FieldName(wellKnown: "TE")
    /// `Trailer`
    public static let trailer = FieldName(wellKnown: "Trailer")
    /// `Transfer-Encoding`
    public static let transferEncoding = FieldName(wellKnown: "Transfer-Encoding")
    /// `Upgrade`
    public static let upgrade = FieldName(wellKnown: "Upgrade")
    /// `User-Agent`
    public static let userAgent = FieldName(wellKnown: "User-Agent")
    /// `Vary`
    public static let vary = FieldName(wellKnown: "Vary")
    /// `Via`
    public static let via = FieldName(wellKnown: "Via")
    /// `WWW-Authenticate`
    public static let wwwAuthenticate = FieldName(wellKnown: "WWW-Authenticate")

    /// All names from which `wellKnown` is made.
    private static let allWellKnown: [FieldName] = [
        accept, acceptEncoding, acceptLanguage, acceptRanges, age, allow, authorization, cacheControl,
        connection, contentDisposition, contentEncoding, contentLength, contentRange, contentType, cookie,
        date,
        eTag, expect, expires, host, ifModifiedSince, ifNoneMatch, ifRange, keepAlive, lastModified, location,
        pragma, proxyAuthenticate, proxyAuthorization, range, referer, retryAfter, server, setCookie, te,
        trailer, transferEncoding, upgrade, userAgent, vary, via, wwwAuthenticate,
    ]
}
