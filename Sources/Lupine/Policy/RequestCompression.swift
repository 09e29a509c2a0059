// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineLoading

/// The shared implementation of the request compressors: decides whether a body is compressed, and updates the request.
///
/// Bodies that are streams or files are not compressed. Called on the session's request queue.
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

    /// Returns `body` compressed with level 5, the level of Apple's compression. It is visible to servers: the second byte of a
    /// zlib stream records the level.
    func compressed(_ body: Data) throws -> Data {
        let encoder = try DeflateEncoder(coding, level: CompressionLevel(rawValue: 5) ?? .standard)
        var result = Data()
        // Receives the output piece by piece; 64 bytes to 64 KiB.
        var buffer = [UInt8](repeating: 0, count: min(max(body.count, 64), 64 << 10))
        let input = body.span
        var consumed = 0
        while true {
            var output = buffer.mutableSpan
            // After the input, `finish` is called until all output has been produced.
            let isFinishing = consumed == input.count
            let step =
                isFinishing
                ? encoder.finish(into: &output) : encoder.encode(input.extracting(consumed...), into: &output)
            consumed += step.consumed
            result.append(contentsOf: buffer[..<step.produced])
            if isFinishing, step.status == .done { return result }
        }
    }
}
