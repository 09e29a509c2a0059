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
    enum RequestKind { case head, connect, other }

    /// Returns the framing of a response, and whether its fields allow the connection to be reused.
    static func ofResponse(
        _ version: HTTPVersion, _ status: Status, _ fields: Fields, _ marks: FramingFields,
        to request: RequestKind
    ) throws(HTTPError) -> (framing: BodyFraming, keepAlive: Bool) {
        var keepAlive = persists(version, fields, marks)
        // Framing fields are to be ignored here, whatever their value (RFC 9110 §9.3.6).
        if status.code == 101 { return (.handover, false) }
        if request == .connect, status.kind == .successful { return (.handover, false) }
        let length = try contentLength(fields, marks)
        if status.kind == .informational || status.code == 204 || status.code == 304 || request == .head {
            // A server that announces content with 204 may send it, and it would be taken for the next response (RFC 9110 §8.6,
            // RFC 9112 §6.1).
            if status.code == 204, marks.transferEncoding.count > 0 || length ?? 0 > 0 { keepAlive = false }
            return (.none, keepAlive)
        }
        if marks.transferEncoding.count > 0 {
            try requireChunked(fields, marks)
            // Content-Length beside Transfer-Encoding is an attack or a mistake, and so is Transfer-Encoding in HTTP/1.0: the
            // message is read, but the connection is not reused (RFC 9112 §6.1, §6.3).
            if length != nil || version == .http10 { keepAlive = false }
            return (.chunked, keepAlive)
        }
        if let length { return (length == 0 ? .none : .length(length), keepAlive) }
        return (.untilClose, false)
    }

    /// Returns the framing of a request. Anything ambiguous is an error (RFC 9112 §11.2).
    static func ofRequest(
        _ version: HTTPVersion, _ fields: Fields, _ marks: FramingFields
    ) throws(HTTPError) -> (framing: BodyFraming, keepAlive: Bool) {
        let keepAlive = persists(version, fields, marks)
        if marks.transferEncoding.count > 0 {
            guard marks.contentLength.count == 0 else { throw .ambiguousFraming }
            try requireChunkedAlone(fields, marks)
            guard version == .http11 else { throw .transferEncodingInHTTP10 }
            return (.chunked, keepAlive)
        }
        try requireOneNumber(fields, marks)
        guard let length = try contentLength(fields, marks), length > 0 else { return (.none, keepAlive) }
        return (.length(length), keepAlive)
    }

    /// Throws if a request states its length more than once, even with equal values: implementations differ on which of the
    /// values, or which end of a list, they use.
    private static func requireOneNumber(_ fields: Fields, _ marks: FramingFields) throws(HTTPError) {
        guard marks.contentLength.count > 0 else { return }
        let index = Int(marks.contentLength.first)
        let value = Excerpt(fields.value(at: index))
        if let second = fields.firstIndex(of: .contentLength, from: index + 1) {
            throw .conflictingContentLengths(value, Excerpt(fields.value(at: second)))
        }
        guard fields.withValue(at: index, { number(in: $0, 0..<$0.count) }) != nil else {
            throw .invalidContentLength(value)
        }
    }

    /// RFC 9112 §9.3.
    private static func persists(_ version: HTTPVersion, _ fields: Fields, _ marks: FramingFields) -> Bool {
        // The value that most servers send, if any, need not be parsed as a list.
        if marks.connection.count == 1,
            fields.withValue(at: Int(marks.connection.first), { OctetScan.isKeepAlive($0) })
        {
            return true
        }
        var close = false
        var keepAlive = false
        forEachElement(.connection, marks.connection, fields) { bytes, element in
            if bytes.equals(lowercased: "close", in: element) { close = true }
            if bytes.equals(lowercased: "keep-alive", in: element) { keepAlive = true }
        }
        return !close && (version == .http11 || keepAlive)
    }

    /// Whether the fields of a message to be sent announce the end of the connection.
    static func saysClose(_ fields: Fields) -> Bool {
        var next = fields.firstIndex(of: .connection)
        while let index = next {
            if fields.withValue(at: index, { ListSyntax.contains("close", in: $0) }) { return true }
            next = fields.firstIndex(of: .connection, from: index + 1)
        }
        return false
    }

    /// Returns the number that all `Content-Length` values agree on; nil if there is none. An empty element or line is not a
    /// number: implementations differ on whether it means nothing, zero, or a broken field.
    private static func contentLength(_ fields: Fields, _ marks: FramingFields) throws(HTTPError) -> Int64? {
        guard marks.contentLength.count > 0 else { return nil }
        var agreed: (number: Int64, text: Excerpt)?
        var problem: HTTPError?
        if marks.contentLength.count == 1 {
            let index = Int(marks.contentLength.first)
            if let number = fields.withValue(at: index, { number(in: $0, 0..<$0.count) }) { return number }
        }
        for index in fields.indices(of: .contentLength) {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachPart(in: bytes) { element in
                    let text = Excerpt(bytes.extracting(element))
                    guard let number = number(in: bytes, element) else {
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

    /// Accepts digits only, and no overflow.
    private static func number(in bytes: Span<UInt8>, _ range: Range<Int>) -> Int64? {
        guard !range.isEmpty else { return nil }
        var number: Int64 = 0
        for index in range {
            guard let digit = Octet.decimal(bytes[index]) else { return nil }
            let (tens, tooMany) = number.multipliedReportingOverflow(by: 10)
            let (sum, tooMuch) = tens.addingReportingOverflow(Int64(digit))
            guard !tooMany, !tooMuch else { return nil }
            number = sum
        }
        return number
    }

    /// Throws unless the transfer codings of all lines together are exactly `chunked`: it must come last and only once, and
    /// Lupine never requests another one.
    private static func requireChunked(_ fields: Fields, _ marks: FramingFields) throws(HTTPError) {
        var elements = 0
        var isChunked = true
        var seen = ""
        forEachElement(.transferEncoding, marks.transferEncoding, fields) { bytes, element in
            elements += 1
            isChunked = isChunked && bytes.equals(lowercased: "chunked", in: element)
            seen += (seen.isEmpty ? "" : ", ") + bytes.text(element)
        }
        guard elements == 1, isChunked else { throw .invalidTransferEncoding(Excerpt(seen)) }
    }

    /// The same for a request, where an empty element or a second line is an error too: an implementation that uses the last line
    /// or the last element as the coding would see none.
    private static func requireChunkedAlone(_ fields: Fields, _ marks: FramingFields) throws(HTTPError) {
        try requireChunked(fields, marks)
        let index = Int(marks.transferEncoding.first)
        let isAlone = fields.withValue(at: index) { $0.equals(lowercased: "chunked", in: 0..<$0.count) }
        guard isAlone, marks.transferEncoding.count == 1 else {
            let lines = fields.values(of: .transferEncoding).joined(separator: ", ")
            throw .invalidTransferEncoding(Excerpt(lines))
        }
    }

    private static func forEachElement(
        _ name: FieldName, _ marks: FramingFields.Occurrences, _ fields: Fields,
        _ body: (Span<UInt8>, Range<Int>) -> Void
    ) {
        guard marks.count > 0 else { return }
        var next: Int? = Int(marks.first)
        while let index = next {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { body(bytes, $0) }
            }
            next = marks.count > 1 ? fields.firstIndex(of: name, from: index + 1) : nil
        }
    }
}
