// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The extended CONNECT that opens a WebSocket: RFC 8441 §4 and §5.
extension MessageEncoder {
    /// Returns the header list of a WebSocket handshake. `head` is the head of the same handshake in HTTP/1.1, a GET request.
    /// Its connection-specific fields and its key (`Sec-WebSocket-Key`) are omitted.
    package static func webSocket(_ head: RequestHead, scheme: String) throws(HTTPError) -> HeaderList {
        try head.target.validate(for: head.method)
        guard case .origin(let path) = head.target else {
            throw .invalidTarget(Excerpt(head.target.description))
        }
        try refuseFraming(head.fields)
        var fields = head.fields
        fields.remove(.secWebSocketKey)
        var list = HeaderList()
        reserve(for: head, in: &list)
        list.append(":method", Method.connect.rawValue)
        list.append(":protocol", "websocket")
        list.append(":scheme", scheme)
        try appendAuthority(head, mayHaveHost: true, to: &list)
        list.append(":path", path, indexing: .without)
        appendFields(fields, mayHaveTE: true, to: &list)
        return list
    }
}
