// SPDX-License-Identifier: MIT

/// What ends a message's body: RFC 9112 §6.3, rule by rule.
package enum BodyFraming: Hashable, Sendable {
    /// There is none.
    case none
    /// So many octets, more than none.
    case length(Int64)
    /// The chunk of size zero.
    case chunked
    /// The end of the connection; responses only.
    case untilClose
    /// What follows is not HTTP any more: an accepted CONNECT, or 101.
    case handover

    /// What the request was, as far as its response's framing depends on it.
    enum RequestKind { case head, connect, other }

    /// The framing of a response, and whether its fields let the connection live on.
    static func ofResponse(
        _ version: HTTPVersion, _ status: Status, _ fields: Fields, _ marks: FramingFields,
        to request: RequestKind
    ) throws(HTTPError) -> (framing: BodyFraming, keepAlive: Bool) {
        var keepAlive = persists(version, fields, marks)
        // Framing fields are to be ignored here, whatever they hold (RFC 9110 §9.3.6).
        if status.code == 101 { return (.handover, false) }
        if request == .connect, status.kind == .successful { return (.handover, false) }
        let length = try contentLength(fields, marks)
        if status.kind == .informational || status.code == 204 || status.code == 304 || request == .head {
            // A server that announces content with 204 may send it: what then follows would pass for the next
            // response (RFC 9110 §8.6, RFC 9112 §6.1).
            if status.code == 204, marks.transferEncoding.count > 0 || length ?? 0 > 0 { keepAlive = false }
            return (.none, keepAlive)
        }
        if marks.transferEncoding.count > 0 {
            try requireChunked(fields, marks)
            // Content-Length beside it is an attack or a mistake, and so is either in HTTP/1.0: the message is
            // read, the connection is not trusted further (RFC 9112 §6.1, §6.3).
            if length != nil || version == .http10 { keepAlive = false }
            return (.chunked, keepAlive)
        }
        if let length { return (length == 0 ? .none : .length(length), keepAlive) }
        return (.untilClose, false)
    }

    /// The framing of a request. Nothing ambiguous is let through (RFC 9112 §11.2).
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

    /// Throws when a request says its length more than once, even if each time alike: readers differ on which of
    /// the values, or which end of a list, they take.
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
        // What most servers say, if they say anything, needs no reading as a list.
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

    /// Whether fields that are to be sent say that their message is the connection's last.
    static func saysClose(_ fields: Fields) -> Bool {
        var next = fields.firstIndex(of: .connection)
        while let index = next {
            if fields.withValue(at: index, { ListSyntax.contains("close", in: $0) }) { return true }
            next = fields.firstIndex(of: .connection, from: index + 1)
        }
        return false
    }

    /// The number that all `Content-Length` values agree on; nil when there is none. An empty element or line is no
    /// number: readers differ on whether it says nothing, zero, or that the field is broken.
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

    /// Digits and nothing else, and not more than fit.
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

    /// Throws unless the codings, all lines together, are `chunked` and nothing else: it must come last and only
    /// once, and no other transfer coding is ever asked for.
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

    /// The same for a request, where the list has no empty elements and no second line either: a reader that takes
    /// the last line or the last element for the coding would see none.
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
