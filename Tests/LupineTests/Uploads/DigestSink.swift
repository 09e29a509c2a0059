// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS

/// Receives a body of any length, and responds with the octets of its SHA-256. Uses OpenSSL, because hashing in the test's own
/// code would take longer than the transfer.
final class DigestSink: BodySink {
    private let digest = RunningDigest(.sha256)

    func receive(_ bytes: Span<UInt8>) throws(Refusal) { digest?.update(bytes) }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        guard let octets = digest?.finish() else { throw Refusal(500, "no digest") }
        return try OriginResponse(200, "application/octet-stream", octets)
    }
}

extension LupineOrigin.Origin {
    /// Answers bodies that are sent to a path with their digest.
    func digest(_ method: String, _ path: String) {
        route(method, path, .streamed { _ throws(Refusal) in DigestSink() })
    }
}
