// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin

/// Content whose every byte depends on its place, and the endpoints that send and check it.
enum Blob {
    /// The longest that is sent.
    static let longest = 10 << 20

    private static let pattern: [UInt8] = {
        // A prime period: no power of two that a buffer may have gives the same bytes at another place.
        let period = (0..<8_191).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 5) }
        var whole: [UInt8] = []
        while whole.count < longest { whole += period }
        return whole
    }()

    /// The content of so many bytes.
    static func bytes(_ count: Int) -> [UInt8] { Array(pattern[..<count]) }

    /// Whether these are the bytes of that content.
    static func matches(_ bytes: [UInt8]) -> Bool { bytes[...] == pattern[..<bytes.count] }

    /// Adds `/blob/{n}`, `/chunked-blob/{n}` and, for any method with content, `/check`, which tells how it came.
    static func serve(on origin: Origin) {
        origin.route("GET", "/blob/{n}") { request throws(Refusal) in
            try OriginResponse(200, "application/octet-stream", bytes(try count(request)))
        }
        origin.route("HEAD", "/blob/{n}") { request throws(Refusal) in
            try OriginResponse(200, "application/octet-stream", bytes(try count(request)))
        }
        origin.route("GET", "/chunked-blob/{n}") { request throws(Refusal) in
            let whole = bytes(try count(request))
            var sent = 0
            return OriginResponse(
                body: .stream(length: nil) { piece, room in
                    let size = min(room, whole.count - sent)
                    piece += whole[sent..<(sent + size)]
                    sent += size
                    return sent == whole.count ? .end(trailers: Fields()) : .more
                })
        }
        origin.route(nil, "/check") { request throws(Refusal) in
            let verdict = matches(request.body) ? "good" : "spoilt"
            let framing = request.field("Content-Length") == nil ? "chunked" : "length"
            return try OriginResponse(
                200, "text/plain", Array("\(request.body.count) \(verdict) \(framing)".utf8))
        }
    }

    private static func count(_ request: OriginRequest) throws(Refusal) -> Int {
        guard let count = request.parameters.first.flatMap({ Int($0) }), (0...longest).contains(count) else {
            throw .badRequest("no such blob")
        }
        return count
    }
}
