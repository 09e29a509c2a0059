// SPDX-License-Identifier: MIT

/// How the recipient of a message finds the end of its body (RFC 9112 §6.3).
package enum BodyFraming: Hashable, Sendable {
    /// No body.
    case none
    /// This many octets, at least one.
    case length(Int64)
    /// The body is sent in chunks; the chunk of size zero ends it.
    case chunked
    /// The end of the connection ends the body. Only responses have this framing.
    case untilClose
    /// No body: the connection switches to another protocol, and the octets after the head are not HTTP. The response is 101, or
    /// accepts a CONNECT.
    case handover

    /// What the framing of a response depends on: whether the method of its request is HEAD, CONNECT or another one.
    enum RequestKind {
        case head, connect, other

        init(_ method: Method) {
            if method == .head {
                self = .head
            } else if method == .connect {
                self = .connect
            } else {
                self = .other
            }
        }
    }

    /// Returns the framing of a response, and whether the response allows the connection to be reused. Throws if the framing
    /// fields are malformed or contradict each other.
    static func ofResponse(
        _ version: HTTPVersion, _ status: Status, _ fields: Fields, _ positions: FramingFieldPositions,
        to request: RequestKind
    ) throws(HTTPError) -> (framing: BodyFraming, allowsReuse: Bool) {
        var allowsReuse = persists(version, fields, positions)
        // The two handovers come first: RFC 9110 §9.3.6 requires a client to ignore the framing fields of a 2xx response to
        // CONNECT, even malformed ones. The same is done for 101.
        if status.code == 101 { return (.handover, false) }
        if request == .connect, status.kind == .successful { return (.handover, false) }
        let length = try contentLength(fields, positions)
        let isWithoutBody =
            status.kind == .informational || status.code == 204 || status.code == 304 || request == .head
        if isWithoutBody {
            // 204 must not announce content (RFC 9110 §8.6, RFC 9112 §6.1). A server that announces some may also send it, and
            // the client would read it as the next response.
            if status.code == 204, positions.transferEncoding.count > 0 || length ?? 0 > 0 {
                allowsReuse = false
            }
            return (.none, allowsReuse)
        }
        if positions.transferEncoding.count > 0 {
            try requireChunked(fields, positions)
            // Content-Length beside Transfer-Encoding is an attack or a mistake, and so is Transfer-Encoding in HTTP/1.0. The
            // client reads the message, but does not reuse the connection (RFC 9112 §6.1, §6.3).
            if length != nil || version == .http10 { allowsReuse = false }
            return (.chunked, allowsReuse)
        }
        if let length { return (length == 0 ? .none : .length(length), allowsReuse) }
        // The response announces no length.
        return (.untilClose, false)
    }

    /// Returns the framing of a request, and whether the request allows the connection to be reused. Throws if two
    /// implementations could determine different ends of the body, as in request smuggling (RFC 9112 §11.2).
    static func ofRequest(
        _ version: HTTPVersion, _ fields: Fields, _ positions: FramingFieldPositions
    ) throws(HTTPError) -> (framing: BodyFraming, allowsReuse: Bool) {
        let allowsReuse = persists(version, fields, positions)
        if positions.transferEncoding.count > 0 {
            guard positions.contentLength.count == 0 else { throw .ambiguousFraming }
            try requireSingleChunked(fields, positions)
            guard version == .http11 else { throw .transferEncodingInHTTP10 }
            return (.chunked, allowsReuse)
        }
        try requireSingleContentLength(fields, positions)
        guard let length = try contentLength(fields, positions), length > 0 else {
            return (.none, allowsReuse)
        }
        return (.length(length), allowsReuse)
    }

    /// Throws if a request has more than one `Content-Length`, or a list of them, even with equal values. Some implementations
    /// use the first line or list element, others the last.
    private static func requireSingleContentLength(
        _ fields: Fields, _ positions: FramingFieldPositions
    ) throws(HTTPError) {
        guard positions.contentLength.count > 0 else { return }
        let index = Int(positions.contentLength.first)
        let value = Excerpt(fields.value(at: index))
        if let second = fields.firstIndex(of: .contentLength, from: index + 1) {
            throw .conflictingContentLengths(value, Excerpt(fields.value(at: second)))
        }
        guard fields.withValue(at: index, { parseNumber(in: $0, 0..<$0.count) }) != nil else {
            throw .invalidContentLength(value)
        }
    }

    /// Whether the connection persists after a message with these fields (RFC 9112 §9.3).
    private static func persists(
        _ version: HTTPVersion, _ fields: Fields, _ positions: FramingFieldPositions
    ) -> Bool {
        // The fast path: most servers that send `Connection` send exactly `keep-alive`, which need not be parsed as a list.
        if positions.connection.count == 1,
            fields.withValue(at: Int(positions.connection.first), { OctetScan.isKeepAlive($0) })
        {
            return true
        }
        var hasClose = false
        var hasKeepAlive = false
        forEachElement(.connection, positions.connection, fields) { bytes, element in
            if bytes.equals(lowercased: "close", in: element) { hasClose = true }
            if bytes.equals(lowercased: "keep-alive", in: element) { hasKeepAlive = true }
        }
        return !hasClose && (version == .http11 || hasKeepAlive)
    }

    /// Whether the fields of a message to be sent contain `Connection: close`: the sender closes the connection after the
    /// exchange.
    static func hasCloseOption(_ fields: Fields) -> Bool {
        var next = fields.firstIndex(of: .connection)
        while let index = next {
            if fields.withValue(at: index, { ListSyntax.contains("close", in: $0) }) { return true }
            next = fields.firstIndex(of: .connection, from: index + 1)
        }
        return false
    }

    /// Returns the number in `Content-Length`, or nil if the field is absent. If there are several lines or list elements, all
    /// must be the same number. Throws if two differ, or if one is not a number. An empty element is an error: some
    /// implementations ignore it, others read it as zero or refuse it.
    private static func contentLength(
        _ fields: Fields, _ positions: FramingFieldPositions
    ) throws(HTTPError) -> Int64? {
        guard positions.contentLength.count > 0 else { return nil }
        // The fast path: one line with one number.
        if positions.contentLength.count == 1 {
            let index = Int(positions.contentLength.first)
            if let number = fields.withValue(at: index, { parseNumber(in: $0, 0..<$0.count) }) {
                return number
            }
        }
        var first: (number: Int64, text: Excerpt)?
        // The first error. The closures below cannot throw.
        var problem: HTTPError?
        for index in fields.indices(of: .contentLength) {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachElementOrEmpty(in: bytes) { element in
                    let text = Excerpt(bytes.extracting(element))
                    guard let number = parseNumber(in: bytes, element) else {
                        problem = problem ?? .invalidContentLength(text)
                        return
                    }
                    if let first, first.number != number {
                        problem = problem ?? .conflictingContentLengths(first.text, text)
                    }
                    first = first ?? (number, text)
                }
            }
        }
        if let problem { throw problem }
        return first?.number
    }

    /// Parses decimal digits. Returns nil for anything else, and for a number that does not fit in 63 bits.
    private static func parseNumber(in bytes: Span<UInt8>, _ range: Range<Int>) -> Int64? {
        guard !range.isEmpty else { return nil }
        var number: Int64 = 0
        for index in range {
            guard let digit = Octet.decimal(bytes[index]) else { return nil }
            let (tens, productOverflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = tens.addingReportingOverflow(Int64(digit))
            guard !productOverflow, !sumOverflow else { return nil }
            number = sum
        }
        return number
    }

    /// Throws unless the transfer codings of all lines together are exactly `chunked`. `chunked` must come last and only once
    /// (RFC 9112 §6.1), and Lupine supports no other transfer coding.
    private static func requireChunked(
        _ fields: Fields, _ positions: FramingFieldPositions
    ) throws(HTTPError) {
        var codingCount = 0
        var isChunked = true
        var codings = ""
        forEachElement(.transferEncoding, positions.transferEncoding, fields) { bytes, element in
            codingCount += 1
            isChunked = isChunked && bytes.equals(lowercased: "chunked", in: element)
            codings += (codings.isEmpty ? "" : ", ") + bytes.text(element)
        }
        guard codingCount == 1, isChunked else { throw .invalidTransferEncoding(Excerpt(codings)) }
    }

    /// Throws unless a request has exactly one `Transfer-Encoding` line, with the value `chunked`. Unlike in a response, empty
    /// elements and lines are errors: an implementation that uses only the last line or element would find no coding in an empty
    /// one.
    private static func requireSingleChunked(
        _ fields: Fields, _ positions: FramingFieldPositions
    ) throws(HTTPError) {
        try requireChunked(fields, positions)
        let index = Int(positions.transferEncoding.first)
        let isExactlyChunked = fields.withValue(at: index) {
            $0.equals(lowercased: "chunked", in: 0..<$0.count)
        }
        guard isExactlyChunked, positions.transferEncoding.count == 1 else {
            let lines = fields.values(of: .transferEncoding).joined(separator: ", ")
            throw .invalidTransferEncoding(Excerpt(lines))
        }
    }

    /// Calls `body` with each list element in the fields of that name, over all their lines. `body` receives the octets of a line
    /// and the range of the element in them.
    private static func forEachElement(
        _ name: FieldName, _ occurrences: FramingFieldPositions.Occurrences, _ fields: Fields,
        _ body: (Span<UInt8>, Range<Int>) -> Void
    ) {
        guard occurrences.count > 0 else { return }
        var next: Int? = Int(occurrences.first)
        while let index = next {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { body(bytes, $0) }
            }
            next = occurrences.count > 1 ? fields.firstIndex(of: name, from: index + 1) : nil
        }
    }
}
