// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// A body of `n` octets that supports range requests: `/range/{n}`. Its octets repeat the alphabet.
///
/// `?etag=` sets the entity tag. `?duration=` is the number of seconds over which the body is sent, in pieces of `?chunk_size=`
/// octets.
enum RangeRoutes {
    /// The value of `Last-Modified`.
    static let lastModified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz".utf8)

    static func add(to router: inout Router) {
        router.get("/range/{n}") { request throws(Refusal) in try answer(request) }
    }

    /// Returns the whole body (200), the requested range (206), or the refusal of a range outside the body (416).
    private static func answer(_ request: OriginRequest) throws(Refusal) -> OriginResponse {
        let length = Int64(try request.number(parameter: 0, atMost: 1 << 40))
        let tag = "\"\(request.arguments["etag"] ?? "range\(length)")\""
        let range =
            isRangeApplicable(request, tag)
            ? ByteRange(request.head.fields[.range], length: length) : .whole
        var response: OriginResponse
        switch range {
        case .whole: response = try content(request, 0..<length)
        case .part(let part):
            response = try content(request, part)
            response.status = Status(206)
            try response.add(.contentRange, "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)")
        case .unsatisfiable:
            response = OriginResponse(416)
            try response.add(.contentRange, "bytes */\(length)")
        }
        try response.add(.eTag, tag)
        try response.add(.lastModified, lastModified)
        try response.add(.acceptRanges, "bytes")
        return response
    }

    /// Returns whether a range applies: `If-Range` is absent, or names the current version (RFC 9110 section 13.1.5).
    private static func isRangeApplicable(_ request: OriginRequest, _ tag: String) -> Bool {
        guard let condition = request.head.fields[.ifRange] else { return true }
        return condition == tag || condition == lastModified
    }

    /// Returns a response with the octets of the body in `range`.
    private static func content(
        _ request: OriginRequest, _ range: Range<Int64>
    ) throws(Refusal) -> OriginResponse {
        let chunkSize = try request.number(argument: "chunk_size").map { min(max(1, $0), 1 << 20) }
        let duration = try OriginRequest.seconds(request.arguments["duration"] ?? "0", atMost: 3_600)
        // Rounded up. Without a chunk size, pieces have the size that conversations suggest (16 KiB).
        let pieceCount = range.isEmpty ? 1 : (range.count - 1) / (chunkSize ?? 16 << 10) + 1
        let pause = duration / pieceCount
        var position = range.lowerBound
        var response = OriginResponse(
            body: range.isEmpty
                ? .none
                : .stream(length: Int64(range.count)) { piece, room in
                    let end = min(range.upperBound, position + Int64(chunkSize ?? room))
                    while position < end {
                        piece.append(alphabet[Int(position % 26)])
                        position += 1
                    }
                    if position == range.upperBound { return .end(trailers: Fields()) }
                    return pause == .zero ? .more : .pause(pause)
                })
        try response.add(.contentType, "application/octet-stream")
        return response
    }
}
