// SPDX-License-Identifier: MIT

/// Writes the head of a response: RFC 9112 §4 and §6.
enum ResponseEncoder {
    /// The field line that announces the framing of the body.
    enum FramingLine {
        case contentLength(Int64)
        case chunked
    }

    /// The field line `Connection`.
    enum ConnectionLine: String {
        case close = "Connection: close\r\n"
        case keepAlive = "Connection: keep-alive\r\n"
    }

    /// Writes the status line, the framing line and the line `Connection` unless they are nil, and the fields in their order.
    /// Throws, and writes nothing, if the fields contain framing fields or the reason phrase has a control character.
    static func encode(
        _ head: ResponseHead, framing: FramingLine?, connection: ConnectionLine?, into output: inout [UInt8]
    ) throws(HTTPError) {
        for name in [FieldName.contentLength, .transferEncoding] where head.fields.contains(name) {
            throw .framingFieldToSend(Excerpt(name.description))
        }
        let reason = Array(head.reason.utf8)
        let end = OctetScan.endOfValue(reason.span, from: 0, to: reason.count)
        guard end == reason.count else {
            throw .invalidValueToSend(name: Excerpt("reason phrase"), octet: reason[end])
        }
        output.append(text: "HTTP/1.1 ")
        output.append(decimal: UInt64(head.status.code))
        output.append(Octet.space)
        output.append(contentsOf: reason)
        output.append(text: "\r\n")
        switch framing {
        case .contentLength(let length):
            output.append(text: "Content-Length: ")
            output.append(decimal: length.magnitude)
            output.append(text: "\r\n")
        case .chunked: output.append(text: "Transfer-Encoding: chunked\r\n")
        case nil: break
        }
        if let connection { output.append(text: connection.rawValue) }
        head.fields.encode(into: &output)
        output.append(text: "\r\n")
    }
}
