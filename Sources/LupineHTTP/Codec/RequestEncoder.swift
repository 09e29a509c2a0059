// SPDX-License-Identifier: MIT

/// Writes the head of a request: RFC 9112 §3 and §6.
///
/// The encoder writes `Content-Length` and `Transfer-Encoding` itself, and refuses a head that contains one of them. If a head is
/// invalid, it throws and writes nothing; it never corrects a head.
enum RequestEncoder {
    /// Writes the request line, `Host`, the framing field, and the other fields in their order. Throws if the head is invalid.
    static func encode(
        _ head: RequestHead, body: OutgoingBody, expectContinue: Bool, into output: inout [UInt8]
    ) throws(HTTPError) {
        try head.target.validate(for: head.method)
        // The connection fields include the framing fields and `Host`. If the head has none, the searches are skipped.
        let mayContainConnectionFields = head.fields.mayContainConnectionFields
        if mayContainConnectionFields { try refuseFraming(head.fields) }
        try validateFraming(of: body, head.version)
        // All checks come before the first octet is written.
        let host = try hostLine(head, mayHaveHost: mayContainConnectionFields)
        appendRequestLine(head, to: &output)
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

    /// Appends the request line. Reserves its capacity once, instead of growing the array for each part.
    private static func appendRequestLine(_ head: RequestHead, to output: inout [UInt8]) {
        let targetText = head.target.description
        let method = head.method.rawValue.utf8.span
        let target = targetText.utf8.span
        // " HTTP/1.", the minor version as "0" or "1", CRLF.
        let versionAndCRLF: InlineArray<11, UInt8> = [
            0x20, 0x48, 0x54, 0x54, 0x50, 0x2F, 0x31, 0x2E, head.version == .http10 ? 0x30 : 0x31,
            Octet.carriageReturn, Octet.lineFeed,
        ]
        output.append(addingCapacity: method.count + 1 + target.count + versionAndCRLF.count) { line in
            for index in method.indices { line.append(method[index]) }
            line.append(Octet.space)
            for index in target.indices { line.append(target[index]) }
            for index in versionAndCRLF.indices { line.append(versionAndCRLF[index]) }
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

    /// Throws if the fields contain `name`.
    private static func refuse(_ name: FieldName, in fields: Fields) throws(HTTPError) {
        if fields.contains(name) { throw .framingFieldToSend(Excerpt(name.description)) }
    }

    /// Returns the `Host` line to write. Returns nil if the fields contain a valid one, or if an HTTP/1.0 request has no host.
    /// Throws if an HTTP/1.1 request has no host, because RFC 9112 §3.2 requires one. Also throws if the fields contain several
    /// `Host` lines or an invalid one. `mayHaveHost` is false if the caller knows that the fields contain no `Host`.
    private static func hostLine(_ head: RequestHead, mayHaveHost: Bool) throws(HTTPError) -> [UInt8]? {
        guard let index = mayHaveHost ? head.fields.firstIndex(of: .host) : nil else {
            if let authority = head.authority { return authority.hostLine }
            // The target of CONNECT is a host and port, and `Host` then repeats it.
            if case .authority(let authority) = head.target {
                return Array("Host: \(authority.hostAndPort)\r\n".utf8)
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
