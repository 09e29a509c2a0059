// SPDX-License-Identifier: MIT

/// The length of the content of a message to be sent.
package enum OutgoingBody: Hashable, Sendable {
    /// No content. A request announces no length, unless its method requires `Content-Length: 0`.
    case none
    /// This many octets.
    case known(Int64)
    /// An unknown length: the content is sent in chunks.
    case unknown

    /// Throws if the length is negative. `RequestEncoder` and `ResponseEncoder` write only the magnitude of a length.
    package func validate() throws(HTTPError) {
        if case .known(let length) = self, length < 0 {
            throw .bodyLengthMismatch(announced: length, given: 0)
        }
    }

    /// Whether the content may be non-empty.
    var hasContent: Bool {
        switch self {
        case .none, .known(0): false
        case .known, .unknown: true
        }
    }
}

/// Writes the framing of a body to be sent, and checks that the content has the announced length.
///
/// The encoder never sees the content. The caller sends the framing that the encoder writes, and after it the octets of content.
struct BodyEncoder {
    private enum State {
        /// There is no body.
        case none
        /// The head announces a length of `announced` octets, of which `sent` have been sent.
        case length(sent: Int64, announced: Int64)
        /// The body is sent in chunks; `isFirst` is true before the first one.
        case chunked(isFirst: Bool)
        /// The body ends with the connection.
        case untilClose
    }

    private var state: State

    private init(_ state: State) { self.state = state }

    /// An encoder for content without framing, which ends with the connection. A server needs it for content of unknown length to
    /// an HTTP/1.0 client.
    static let untilClose = BodyEncoder(State.untilClose)

    init(_ body: OutgoingBody) {
        switch body {
        case .none: state = .none
        case .known(let length): state = .length(sent: 0, announced: length)
        case .unknown: state = .chunked(isFirst: true)
        }
    }

    /// Writes the framing that precedes the next `count` octets of content. Throws if the content becomes longer than announced.
    mutating func beginContent(_ count: Int, into output: inout [UInt8]) throws(HTTPError) {
        // A chunk of size zero would end the body.
        guard count > 0 else { return }
        switch state {
        case .none:
            throw .bodyLengthMismatch(announced: 0, given: Int64(count))
        case .length(let sent, let length):
            let (total, overflow) = sent.addingReportingOverflow(Int64(count))
            guard !overflow, total <= length else {
                throw .bodyLengthMismatch(announced: length, given: overflow ? .max : total)
            }
            state = .length(sent: total, announced: length)
        case .untilClose: break
        case .chunked(let isFirst):
            // The CRLF after the content of the previous chunk.
            if !isFirst { output.append(contentsOf: [Octet.carriageReturn, Octet.lineFeed]) }
            output.append(hexadecimal: UInt64(count))
            output.append(contentsOf: [Octet.carriageReturn, Octet.lineFeed])
            state = .chunked(isFirst: false)
        }
    }

    /// Ends the body: writes the framing after its last octet. Throws if the content is shorter than announced, if `TrailerRule`
    /// forbids a trailer, or if there are trailers and the body is not chunked. With `untilClose`, omits the trailers instead,
    /// because HTTP/1.0 has none.
    mutating func end(trailers: Fields, into output: inout [UInt8]) throws(HTTPError) {
        for index in 0..<trailers.count where !TrailerRule.allows(trailers.name(at: index)) {
            throw .forbiddenTrailerToSend(Excerpt(trailers.name(at: index)))
        }
        switch state {
        case .untilClose: break
        case .none:
            try refuse(trailers)
        case .length(let sent, let length):
            guard sent == length else { throw .bodyLengthMismatch(announced: length, given: sent) }
            try refuse(trailers)
        case .chunked(let isFirst):
            // The CRLF after the content of the last chunk, then the chunk of size zero, which ends the body.
            if !isFirst { output.append(contentsOf: [Octet.carriageReturn, Octet.lineFeed]) }
            output.append(contentsOf: [UInt8(ascii: "0"), Octet.carriageReturn, Octet.lineFeed])
            trailers.encode(into: &output)
            output.append(contentsOf: [Octet.carriageReturn, Octet.lineFeed])
        }
    }

    /// Throws if there are trailers.
    private func refuse(_ trailers: Fields) throws(HTTPError) {
        if !trailers.isEmpty { throw .trailerWithoutChunks(Excerpt(trailers.name(at: 0))) }
    }
}
