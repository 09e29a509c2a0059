// SPDX-License-Identifier: MIT

/// Determines the end of a message's body: RFC 9112 §6.3, rule by rule.
package enum BodyFraming: Hashable, Sendable {
    /// No body.
    case none
    /// This many octets, at least one.
    case length(Int64)
    /// The chunk of size zero ends it.
    case chunked
    /// The end of the connection ends it; responses only.
    case untilClose
    /// The following octets are not HTTP: an accepted CONNECT, or 101.
    case handover

    /// The kind of the request, on which the framing of its response depends.
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

    /// Returns the framing of a response, and whether its fields allow the connection to be reused.
    static func ofResponse(
        _ version: HTTPVersion, _ status: Status, _ fields: Fields, _ positions: FramingFieldPositions,
        to request: RequestKind
    ) throws(HTTPError) -> (framing: BodyFraming, allowsReuse: Bool) {
        var allowsReuse = persists(version, fields, positions)
        // In these two cases RFC 9110 §9.3.6 requires a client to ignore the framing fields, even malformed ones.
        if status.code == 101 { return (.handover, false) }
        if request == .connect, status.kind == .successful { return (.handover, false) }
        let length = try contentLength(fields, positions)
        if status.kind == .informational || status.code == 204 || status.code == 304 || request == .head {
            // A server that announces content with 204 may send it, and a client would read it as the next response (RFC 9110
            // §8.6, RFC 9112 §6.1).
            if status.code == 204, positions.transferEncoding.count > 0 || length ?? 0 > 0 {
                allowsReuse = false
            }
            return (.none, allowsReuse)
        }
        if positions.transferEncoding.count > 0 {
            try requireChunked(fields, positions)
            // Content-Length beside Transfer-Encoding is an attack or a mistake, and so is Transfer-Encoding in HTTP/1.0: the
            // message is read, but the connection is not reused (RFC 9112 §6.1, §6.3).
            if length != nil || version == .http10 { allowsReuse = false }
            return (.chunked, allowsReuse)
        }
        if let length { return (length == 0 ? .none : .length(length), allowsReuse) }
        return (.untilClose, false)
    }

    /// Returns the framing of a request. Anything ambiguous is an error (RFC 9112 §11.2).
    static func ofRequest(
        _ version: HTTPVersion, _ fields: Fields, _ positions: FramingFieldPositions
    ) throws(HTTPError) -> (framing: BodyFraming, allowsReuse: Bool) {
        let allowsReuse = persists(version, fields, positions)
        if positions.transferEncoding.count > 0 {
            guard positions.contentLength.count == 0 else { throw .ambiguousFraming }
            try requireChunkedAlone(fields, positions)
            guard version == .http11 else { throw .transferEncodingInHTTP10 }
            return (.chunked, allowsReuse)
        }
        try requireOneNumber(fields, positions)
        guard let length = try contentLength(fields, positions), length > 0 else { return (.none, allowsReuse) }
        return (.length(length), allowsReuse)
    }

    /// Throws if a request states its length more than once, even with equal values: implementations differ on whether they use
    /// the first or the last value or element of a list.
    private static func requireOneNumber(_ fields: Fields, _ positions: FramingFieldPositions) throws(HTTPError) {
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
        // Most servers that send `Connection` send exactly this value, which need not be parsed as a list.
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

    /// Whether the fields of a message to be sent announce the end of the connection.
    static func hasCloseOption(_ fields: Fields) -> Bool {
        var next = fields.firstIndex(of: .connection)
        while let index = next {
            if fields.withValue(at: index, { ListSyntax.contains("close", in: $0) }) { return true }
            next = fields.firstIndex(of: .connection, from: index + 1)
        }
        return false
    }

    /// Returns the number that all `Content-Length` values agree on; nil if there is none. An empty element or line is not a
    /// number: implementations differ on whether it means nothing, zero, or a broken field.
    private static func contentLength(
        _ fields: Fields, _ positions: FramingFieldPositions
    ) throws(HTTPError) -> Int64? {
        guard positions.contentLength.count > 0 else { return nil }
        var agreed: (number: Int64, text: Excerpt)?
        var problem: HTTPError?
        if positions.contentLength.count == 1 {
            let index = Int(positions.contentLength.first)
            if let number = fields.withValue(at: index, { parseNumber(in: $0, 0..<$0.count) }) {
                return number
            }
        }
        for index in fields.indices(of: .contentLength) {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachElementOrEmpty(in: bytes) { element in
                    let text = Excerpt(bytes.extracting(element))
                    guard let number = parseNumber(in: bytes, element) else {
                        problem = problem ?? .invalidContentLength(text)
                        return
                    }
                    if let agreed, agreed.number != number {
                        problem = problem ?? .conflictingContentLengths(agreed.text, text)
                    }
                    agreed = agreed ?? (number, text)
                }
            }
        }
        if let problem { throw problem }
        return agreed?.number
    }

    /// Parses decimal digits; nil for anything else, and for a number that does not fit.
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

    /// Throws unless the transfer codings of all lines together are exactly `chunked`: it must come last and only once, and
    /// Lupine never requests another one.
    private static func requireChunked(_ fields: Fields, _ positions: FramingFieldPositions) throws(HTTPError) {
        var elements = 0
        var isChunked = true
        var codings = ""
        forEachElement(.transferEncoding, positions.transferEncoding, fields) { bytes, element in
            elements += 1
            isChunked = isChunked && bytes.equals(lowercased: "chunked", in: element)
            codings += (codings.isEmpty ? "" : ", ") + bytes.text(element)
        }
        guard elements == 1, isChunked else { throw .invalidTransferEncoding(Excerpt(codings)) }
    }

    /// Throws unless a request has exactly one `Transfer-Encoding` line, with the value `chunked`. Unlike in a response, empty
    /// elements and lines are errors: an implementation that uses only the last line or element would find no coding in them.
    private static func requireChunkedAlone(_ fields: Fields, _ positions: FramingFieldPositions) throws(HTTPError) {
        try requireChunked(fields, positions)
        let index = Int(positions.transferEncoding.first)
        let isAlone = fields.withValue(at: index) { $0.equals(lowercased: "chunked", in: 0..<$0.count) }
        guard isAlone, positions.transferEncoding.count == 1 else {
            let lines = fields.values(of: .transferEncoding).joined(separator: ", ")
            throw .invalidTransferEncoding(Excerpt(lines))
        }
    }

    /// Calls `body` with each element of the fields of a name, over all their lines.
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
