// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin

/// Content whose every byte depends on its offset, and the endpoints that send and check it.
enum Blob {
    /// The longest blob that is served.
    static let longest = 10 << 20

    private static let pattern: [UInt8] = {
        // The period is a prime, so that no buffer of a power of two gives the same bytes at another offset.
        let period = (0..<8_191).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 5) }
        var whole: [UInt8] = []
        while whole.count < longest { whole += period }
        return whole
    }()

    /// Returns the first `count` bytes of the content.
    static func bytes(_ count: Int) -> [UInt8] { Array(pattern[..<count]) }

    /// Returns a range of that content.
    static func bytes(_ range: Range<Int>) -> [UInt8] { Array(pattern[range]) }

    /// Whether these are the first bytes of that content.
    static func matches(_ bytes: [UInt8]) -> Bool { bytes[...] == pattern[..<bytes.count] }

    /// Adds `/blob/{n}`, `/chunked-blob/{n}` and, for any method with content, `/check`, which reports length, correctness and
    /// framing of the content it received.
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
