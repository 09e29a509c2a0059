// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS

/// The content that every peer of the HTTP/2 tests serves: `Peers/peer.go`, `Peers/peer.mjs`, `Peers/peer.py`, nghttpd with
/// files, and the origin, directly and behind nghttpx.
///
/// | path | answer |
/// |---|---|
/// | `/small` | `small` and the end of a line, with a length |
/// | `/large` | the octets of a `LongContent`, with a length |
/// | `/echo` | the request's content |
/// | `/digest` | its SHA-256 in lowercase hexadecimal digits |
/// | `/trailers` | `trailers`; then X-Check, which is `done`, and X-Got, which repeats the request's trailer X-Sent |
/// | `/early` | 103 with a Link, then `late` |
/// | `/fields` | nothing, with the fields of the request whose names begin with X-Field- |
///
/// nghttpd serves only files: it has no X-Got, `/early` or `/fields`. hypercorn has no X-Got. Not all peers have `/digest`.
enum HTTP2PeerContent {
    static let small = "small\n"
    /// The longest content; `/large` is its beginning.
    static let large = LongContent(64 << 20, seed: 9113)

    /// Writes the files of a peer that serves files.
    static func write(_ large: LongContent, into folder: String) throws {
        let place = URL(fileURLWithPath: folder)
        try Data(small.utf8).write(to: place.appendingPathComponent("small"))
        try Data("trailers".utf8).write(to: place.appendingPathComponent("trailers"))
        try large.write(to: place.appendingPathComponent("large"))
    }

    /// Adds the content to the origin.
    static func serve(_ large: LongContent, on origin: LupineOrigin.Origin) {
        large.serve("/large", on: origin, acceptsRanges: false)
        for method in ["GET", "HEAD"] {
            origin.route(method, "/small") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", Array(small.utf8))
            }
        }
        origin.route(nil, "/echo") { request throws(Refusal) in OriginResponse(body: .bytes(request.body)) }
        origin.route("POST", "/digest", .streamed { _ throws(Refusal) in DigestSink() })
        origin.route(nil, "/trailers") { request throws(Refusal) in
            var trailers = OriginResponse()
            try trailers.add("X-Check", "done")
            try trailers.add("X-Got", (try? FieldName("X-Sent")).flatMap { request.trailers[$0] } ?? "")
            let fields = trailers.fields
            var response = OriginResponse(
                body: .stream(length: nil) { piece, _ in
                    piece += Array("trailers".utf8)
                    return .end(trailers: fields)
                })
            try response.add("Trailer", "X-Check, X-Got")
            return response
        }
        origin.route("GET", "/early") { _ throws(Refusal) in
            var early = OriginResponse()
            try early.add("Link", "</style>")
            var response = try OriginResponse(200, "text/plain", Array("late".utf8))
            response.interim = [ResponseHead(status: Status(103), fields: early.fields)]
            return response
        }
        origin.route("GET", "/fields") { request throws(Refusal) in
            var response = OriginResponse(body: .bytes([]))
            for index in 0..<request.head.fields.count {
                let name = request.head.fields.name(at: index)
                guard name.lowercased().hasPrefix("x-field-") else { continue }
                try response.add(name, request.head.fields.value(at: index))
            }
            return response
        }
    }

    /// Returns octets in lowercase hexadecimal digits.
    static func hexadecimal(_ octets: [UInt8]) -> String {
        octets.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// Answers with the SHA-256 of the received content.
private final class DigestSink: BodySink {
    private let digest = RunningDigest(.sha256)

    func receive(_ bytes: Span<UInt8>) throws(Refusal) { digest?.update(bytes) }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        guard let octets = digest?.finish() else { throw Refusal(500, "no SHA-256 here") }
        return try OriginResponse(200, "text/plain", Array(HTTP2PeerContent.hexadecimal(octets).utf8))
    }
}
