// SPDX-License-Identifier: MIT

/// Writes the head of a request: RFC 9112 §3 and §6.
///
/// If a head cannot be sent, throws and writes nothing; it repairs no head. The encoder itself writes the framing fields, and
/// refuses those that are given.
enum RequestEncoder {
    /// Writes request line, `Host`, framing, and the fields in their order, in one pass.
    static func encode(
        _ head: RequestHead, body: OutgoingBody, expectContinue: Bool, into output: inout [UInt8]
    ) throws(HTTPError) {
        try head.target.validate(for: head.method)
        // The connection fields include the framing fields and `Host`.
        let mayContainConnectionFields = head.fields.mayContainConnectionFields
        if mayContainConnectionFields { try refuseFraming(head.fields) }
        try validateFraming(of: body, head.version)
        let host = try hostLine(head, mayHaveHost: mayContainConnectionFields)
        appendLine(head, to: &output)
        if let host { output.append(contentsOf: host) }
        switch body {
        case .none:
            if head.method.expectsContent { output.append(text: "Content-Length: 0\r\n") }
        case .known(let length):
            output.append(text: "Content-Length: ")
            output.append(decimal: length.magnitude)
            output.append(text: "\r\n")
        case .unknown:
            output.append(text: "Transfer-Encoding: chunked\r\n")
        }
        if expectContinue, !head.fields.contains(.expect) { output.append(text: "Expect: 100-continue\r\n") }
        head.fields.encode(into: &output)
        output.append(Octet.carriageReturn)
        output.append(Octet.lineFeed)
    }

    /// Appends the request line, with one reservation of capacity.
    private static func appendLine(_ head: RequestHead, to output: inout [UInt8]) {
        let targetText = head.target.description
        let method = head.method.rawValue.utf8.span
        let target = targetText.utf8.span
        // " HTTP/1.", the minor version, CRLF.
        let end: InlineArray<11, UInt8> = [
            0x20, 0x48, 0x54, 0x54, 0x50, 0x2F, 0x31, 0x2E, head.version == .http10 ? 0x30 : 0x31,
            Octet.carriageReturn, Octet.lineFeed,
        ]
        output.append(addingCapacity: method.count + 1 + target.count + end.count) { line in
            for index in method.indices { line.append(method[index]) }
            line.append(Octet.space)
            for index in target.indices { line.append(target[index]) }
            for index in end.indices { line.append(end[index]) }
        }
    }

    /// Throws if the body cannot be framed: HTTP/1.0 has no chunked coding (RFC 9112 §6.1), and a length cannot be negative.
    private static func validateFraming(of body: OutgoingBody, _ version: HTTPVersion) throws(HTTPError) {
        switch body {
        case .none: break
        case .known(let length):
            guard length >= 0 else { throw .bodyLengthMismatch(announced: length, given: 0) }
        case .unknown:
            guard version != .http10 else { throw .unknownLengthInHTTP10 }
        }
    }

    /// Throws if the fields contain a framing field.
    private static func refuseFraming(_ fields: Fields) throws(HTTPError) {
        try refuse(.contentLength, in: fields)
        try refuse(.transferEncoding, in: fields)
    }

    private static func refuse(_ name: FieldName, in fields: Fields) throws(HTTPError) {
        if fields.contains(name) { throw .framingFieldToSend(Excerpt(name.description)) }
    }

    /// The `Host` line to write; nil if the fields have one (RFC 9112 §3.2 requires exactly one).
    private static func hostLine(_ head: RequestHead, mayHaveHost: Bool) throws(HTTPError) -> [UInt8]? {
        guard let index = mayHaveHost ? head.fields.firstIndex(of: .host) : nil else {
            if let authority = head.authority { return authority.hostLine }
            if case .authority(let authority) = head.target {
                return Array("Host: \(authority.withPort)\r\n".utf8)
            }
            guard head.version == .http10 else { throw .missingHostToSend }
            return nil
        }
        guard head.fields.firstIndex(of: .host, from: index + 1) == nil else {
            throw .repeatedHostToSend
        }
        guard head.fields.withValue(at: index, Authority.isHostField) else {
            throw .invalidAuthority(Excerpt(head.fields.value(at: index)))
        }
        return nil
    }
}
