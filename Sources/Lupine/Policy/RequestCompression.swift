// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineLoading

/// What the compressors of requests have in common: when a body is compressed, and how the request then looks.
///
/// Not for bodies that are streams or files. Called on the session's request queue.
struct RequestCompression: Sendable {
    let coding: DeflateEncoder.Coding
    let duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior
    let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    /// The request with its body compressed, or as it is.
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

    /// `body` in the coding. Level 5 is the one that Apple's compression has: the second byte of a zlib stream names it.
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
