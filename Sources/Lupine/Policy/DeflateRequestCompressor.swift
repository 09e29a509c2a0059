// SPDX-License-Identifier: MIT

public import Foundation
import LupineCoding
public import LupineLoading

/// Compresses the bodies of requests with `deflate`, which is the zlib format (RFC 9110 §8.4.1.2, RFC 1950).
///
/// Only bodies that are `Data` are compressed; streams and uploads go as they are. A server has to be known to take such
/// bodies: there is no way to ask it before. See `GzipRequestCompressor` for the coding that more servers know.
public struct DeflateRequestCompressor: Sendable, RequestInterceptor {
    /// What becomes of a request that has a `Content-Encoding` already.
    public enum DuplicateHeaderBehavior: Sendable {
        /// It fails with `DuplicateHeaderError`.
        case error
        /// Its body is compressed and the field replaced.
        case replace
        /// It goes as it is.
        case skip
    }

    /// The request has a `Content-Encoding` already.
    public struct DuplicateHeaderError: Error {}

    /// What becomes of a request that has a `Content-Encoding` already.
    public let duplicateHeaderBehavior: DuplicateHeaderBehavior
    /// Whether a body is worth compressing.
    public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    /// A compressor of those bodies that `shouldCompressBodyData` says yes to.
    public init(
        duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) {
        self.duplicateHeaderBehavior = duplicateHeaderBehavior
        self.shouldCompressBodyData = shouldCompressBodyData
    }

    /// Gives the request with its body compressed, or as it is; fails with `DuplicateHeaderError` or when there is no
    /// memory.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(Result { try compression.adapted(urlRequest) })
    }

    func deflate(_ data: Data) throws -> Data { try compression.compressed(data) }

    /// The checksum at the end of a zlib stream (RFC 1950 §8.2).
    func adler32Checksum(of data: Data) -> UInt32 {
        let modulus: UInt32 = 65_521
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in data {
            low = (low + UInt32(byte)) % modulus
            high = (high + low) % modulus
        }
        return high << 16 | low
    }

    private var compression: RequestCompression {
        RequestCompression(
            coding: .deflate, duplicateHeaderBehavior: duplicateHeaderBehavior,
            shouldCompressBodyData: shouldCompressBodyData)
    }
}

extension RequestInterceptor where Self == DeflateRequestCompressor {
    /// A compressor of every body.
    public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

    /// A compressor of those bodies that `shouldCompressBodyData` says yes to.
    public static func deflateCompressor(
        duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> DeflateRequestCompressor {
        DeflateRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
