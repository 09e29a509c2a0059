// SPDX-License-Identifier: MIT

package import LupineHTTP
package import LupineTransport

/// A request, in the form that endpoints receive.
package struct OriginRequest: Sendable {
    package let head: RequestHead
    /// The path as received, without the query; `*` for an OPTIONS request about the whole server.
    package let path: String
    /// The query as received, without the question mark; empty if there is none.
    package let query: String
    /// The path segments that matched the segments in braces of the route's pattern. The segments that `{*}` matched are the last
    /// element, which is not decoded.
    package var parameters: [String] = []
    /// The content of the request; empty unless the endpoint answers after the whole body (`Endpoint.collected`).
    package var body: [UInt8] = []
    /// The trailers of the request; empty unless the endpoint answers after the whole body (`Endpoint.collected`).
    package var trailers = Fields()
    /// The address of the client; nil if it is not known.
    package let peer: SocketAddress?
    /// The number of the connection, from 0 in order of acceptance.
    package let connection: Int
    /// The outcome of the TLS handshake, including the client's certificates; nil without TLS.
    package let tls: OriginHandshake?

    init(_ head: RequestHead, peer: SocketAddress?, connection: Int, tls: OriginHandshake? = nil) {
        self.tls = tls
        self.head = head
        self.peer = peer
        self.connection = connection
        var target = Substring(head.target.description)
        if case .absolute = head.target, let separator = target.firstRange(of: "://") {
            let authorityAndPath = target[separator.upperBound...]
            let pathStart = authorityAndPath.utf8.firstIndex {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?")
            }
            target = authorityAndPath[(pathStart ?? authorityAndPath.endIndex)...]
            // An absolute URI without a path stands for `*` in an OPTIONS request (RFC 9112 §3.2.4), and for `/` in others.
            if target.isEmpty, head.method == .options {
                target = "*"
            } else if target.utf8.first != UInt8(ascii: "/") {
                target = "/" + target
            }
        }
        let questionMark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = String(target[..<(questionMark ?? target.endIndex)])
        query = questionMark.map { String(target[target.utf8.index(after: $0)...]) } ?? ""
    }

    /// The scheme and authority of the request's URL, such as `http://127.0.0.1:80`.
    var schemeAndAuthority: String { (tls == nil ? "http://" : "https://") + (head.fields[.host] ?? "") }

    /// The path with its query, as in the origin form of a target.
    var pathAndQuery: String { query.isEmpty ? path : path + "?" + query }

    /// The decoded name-value pairs of the query, in order.
    package var arguments: FormPairs { FormPairs(query) }

    /// Returns the value of the first field with this name; nil if there is none, or the name is illegal.
    package func field(_ name: String) -> String? {
        (try? FieldName(name)).flatMap { head.fields[$0] }
    }

    /// The media type of the body, in lowercase, without parameters; nil without `Content-Type`.
    package var mediaType: String? {
        head.fields.withFirstValue(of: .contentType) { bytes in
            let range = ListSyntax.valueWithoutParameters(of: 0..<bytes.count, in: bytes)
            return ListSyntax.unquoted(bytes, range).lowercased()
        }
    }

    /// Returns the path parameter at `index` as a number from 0 to `limit`. Refuses any other value.
    func number(parameter index: Int, atMost limit: Int = .max) throws(Refusal) -> Int {
        guard index < parameters.count, let number = Int(parameters[index]), number >= 0 else {
            throw .badRequest("not a number: \(parameters.dropFirst(index).first ?? "")")
        }
        guard number <= limit else { throw .badRequest("\(number) is more than \(limit)") }
        return number
    }

    /// Returns an argument of the query as a number that is not negative; nil if the argument is absent. Refuses any other value.
    func number(argument name: String) throws(Refusal) -> Int? {
        guard let text = arguments[name] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw .badRequest("\(name) is not a number: \(text)")
        }
        return number
    }

    /// Parses a number of seconds, such as `0.5`. Returns at most `limit` seconds. Refuses any other text.
    static func seconds(_ text: String, atMost limit: Double) throws(Refusal) -> Duration {
        guard let seconds = Double(text), seconds >= 0, seconds.isFinite else {
            throw .badRequest("not a number of seconds: \(text)")
        }
        return .nanoseconds(Int64(min(seconds, limit) * 1e9))
    }
}
