// SPDX-License-Identifier: MIT

internal import LupineCoding
internal import LupineHTTP

/// Descriptions of the request in content codings: `/gzip`, `/deflate`, `/brotli`.
enum CodingRoutes {
    static func add(to router: inout Router) {
        router.any("/gzip") { request throws(Refusal) in
            let document = document(request, "gzipped")
            return try response("gzip", deflated(document, as: .gzip))
        }
        router.any("/deflate") { request throws(Refusal) in
            let document = document(request, "deflated")
            return try response("deflate", deflated(document, as: .deflate))
        }
        router.any("/brotli") { request throws(Refusal) in
            try response("br", UncompressedBrotli.encoded(document(request, "brotli")))
        }
    }

    /// Returns a JSON document that describes the request. Its member `flag` is true.
    private static func document(_ request: OriginRequest, _ flag: String) -> [UInt8] {
        JSONWriter.document(
            .object([
                (flag, .bool(true)), ("headers", EchoRoutes.headers(request)),
                ("method", .string(request.head.method.rawValue)),
                ("origin", .string(EchoRoutes.client(request))),
            ]))
    }

    /// Returns the response with a JSON document that is encoded in `coding`.
    private static func response(_ coding: String, _ bytes: [UInt8]) throws(Refusal) -> OriginResponse {
        var response = try OriginResponse(200, "application/json", bytes)
        try response.add(.contentEncoding, coding)
        try response.add(.vary, "Accept-Encoding")
        return response
    }

    /// Returns `bytes` encoded with one of zlib's codings.
    static func deflated(_ bytes: [UInt8], as coding: DeflateEncoder.Coding) throws(Refusal) -> [UInt8] {
        do throws(CodingError) {
            let encoder = try DeflateEncoder(coding)
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            var output: [UInt8] = []
            var consumed = 0
            while true {
                var span = buffer.mutableSpan
                let progress =
                    consumed < bytes.count
                    ? encoder.encode(bytes.span.extracting(consumed...), into: &span)
                    : encoder.finish(into: &span)
                consumed += progress.consumed
                output += buffer[..<progress.produced]
                if progress.status == .done { return output }
            }
        } catch {
            throw Refusal(500, "\(error)")
        }
    }
}
