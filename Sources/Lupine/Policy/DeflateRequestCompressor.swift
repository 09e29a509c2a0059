// SPDX-License-Identifier: MIT

public import Foundation
import LupineCoding
public import LupineLoading

/// Compresses the bodies of requests with `deflate`, which is the zlib format (RFC 9110 §8.4.1.2, RFC 1950).
///
/// Only bodies that are `Data` are compressed; streams and uploads are sent unchanged. The compressor cannot find out whether a
/// server accepts such bodies, so use it only for servers that are known to accept them. More servers accept the bodies of
/// `GzipRequestCompressor`.
public struct DeflateRequestCompressor: Sendable, RequestInterceptor {
    /// Defines how a request that already has a `Content-Encoding` is handled.
    public enum DuplicateHeaderBehavior: Sendable {
        /// The request fails with `DuplicateHeaderError`.
        case error
        /// The body is compressed and the field replaced.
        case replace
        /// The request is sent unchanged.
        case skip
    }

    /// The request already has a `Content-Encoding`.
    public struct DuplicateHeaderError: Error {}

    // The options are the same as in `GzipRequestCompressor`: Alamofire declares them for this type only, and a program that
    // changes to Lupine's gzip type keeps its options.

    /// Defines how a request that already has a `Content-Encoding` is handled.
    public let duplicateHeaderBehavior: DuplicateHeaderBehavior
    /// Returns whether a body is to be compressed.
    public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    /// Creates a compressor of the bodies for which `shouldCompressBodyData` returns true.
    public init(
        duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) {
        self.duplicateHeaderBehavior = duplicateHeaderBehavior
        self.shouldCompressBodyData = shouldCompressBodyData
    }

    /// Compresses the body of the request, or leaves it unchanged. Fails with `DuplicateHeaderError` or when memory is
    /// exhausted.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(Result { try compression.adapted(urlRequest) })
    }

    /// Returns the data as a zlib stream.
    func deflate(_ data: Data) throws -> Data { try compression.compressed(data) }

    /// Returns the Adler-32 checksum, which a zlib stream has at its end (RFC 1950 §8.2).
    func adler32Checksum(of data: Data) -> UInt32 {
        // The largest prime below 65,536.
        let modulus: UInt32 = 65_521
        // The sums that RFC 1950 calls s1 and s2.
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in data {
            low = (low + UInt32(byte)) % modulus
            high = (high + low) % modulus
        }
        return high << 16 | low
    }

    /// The implementation, with the options of this compressor.
    private var compression: RequestCompression {
        RequestCompression(
            coding: .deflate, duplicateHeaderBehavior: duplicateHeaderBehavior,
            shouldCompressBodyData: shouldCompressBodyData)
    }
}

extension RequestInterceptor where Self == DeflateRequestCompressor {
    /// A compressor of all bodies.
    public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

    /// Creates a compressor of the bodies for which `shouldCompressBodyData` returns true.
    public static func deflateCompressor(
        duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> DeflateRequestCompressor {
        DeflateRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
