// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineLoading

/// The implementation that both request compressors share: decides whether a body is compressed, and updates the request.
///
/// Bodies that are streams or files are not compressed. The compressors use it on the session's request queue.
struct RequestCompression: Sendable {
    let coding: DeflateEncoder.Coding
    let duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior
    let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    /// Returns the request with its body compressed, or unchanged.
    func adapted(_ urlRequest: URLRequest) throws -> URLRequest {
        guard let body = urlRequest.httpBody, shouldCompressBodyData(body) else { return urlRequest }
        if urlRequest.value(forHTTPHeaderField: "Content-Encoding") != nil {
            switch duplicateHeaderBehavior {
            case .error: throw DeflateRequestCompressor.DuplicateHeaderError()
            case .replace: break
            case .skip: return urlRequest
            }
        }
        var request = urlRequest
        request.httpBody = try compressed(body)
        request.setValue(coding.contentCoding.rawValue, forHTTPHeaderField: "Content-Encoding")
        return request
    }

    /// Returns `body` compressed with level 5, the level of Apple's compression. Servers can see the level, because the second
    /// byte of a zlib stream records it.
    func compressed(_ body: Data) throws -> Data {
        let encoder = try DeflateEncoder(coding, level: CompressionLevel(rawValue: 5) ?? .standard)
        var compressedBody = Data()
        // The encoder writes its output into this buffer, piece by piece. Its size is that of the body, from 64 bytes to 64 KiB.
        var buffer = [UInt8](repeating: 0, count: min(max(body.count, 64), 64 << 10))
        let input = body.span
        var consumedCount = 0
        while true {
            var output = buffer.mutableSpan
            // After the encoder has consumed the input, `finish` is called until it has produced all output.
            let isFinishing = consumedCount == input.count
            let progress =
                isFinishing
                ? encoder.finish(into: &output)
                : encoder.encode(input.extracting(consumedCount...), into: &output)
            consumedCount += progress.consumed
            compressedBody.append(contentsOf: buffer[..<progress.produced])
            if isFinishing, progress.status == .done { return compressedBody }
        }
    }
}
