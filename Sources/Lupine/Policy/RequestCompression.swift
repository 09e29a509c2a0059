// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineLoading

/// The shared implementation of the request compressors: decides whether a body is compressed, and updates the request.
///
/// Not for bodies that are streams or files. Called on the session's request queue.
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

    /// Returns `body` compressed. Level 5 is the level of Apple's compression; the second byte of a zlib stream records it.
    func compressed(_ body: Data) throws -> Data {
        let encoder = try DeflateEncoder(coding, level: CompressionLevel(rawValue: 5) ?? .standard)
        var result = Data()
        var piece = [UInt8](repeating: 0, count: min(max(body.count, 64), 64 << 10))
        let input = body.span
        var read = 0
        while true {
            var room = piece.mutableSpan
            let isFinishing = read == input.count
            let step =
                isFinishing
                ? encoder.finish(into: &room) : encoder.encode(input.extracting(read...), into: &room)
            read += step.consumed
            result.append(contentsOf: piece[..<step.produced])
            if isFinishing, step.status == .done { return result }
        }
    }
}
