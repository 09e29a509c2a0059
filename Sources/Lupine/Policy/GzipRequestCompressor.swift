// SPDX-License-Identifier: MIT

public import Foundation
import LupineCoding
public import LupineLoading

/// Compresses the bodies of requests with `gzip` (RFC 9110 §8.4.1.3, RFC 1952), with the options of
/// `DeflateRequestCompressor`.
///
/// Only bodies that are `Data` are compressed; streams and uploads are sent unchanged.
public struct GzipRequestCompressor: Sendable, RequestInterceptor {
    /// Defines how a request that already has a `Content-Encoding` is handled.
    public typealias DuplicateHeaderBehavior = DeflateRequestCompressor.DuplicateHeaderBehavior
    /// The request already has a `Content-Encoding`.
    public typealias DuplicateHeaderError = DeflateRequestCompressor.DuplicateHeaderError

    // The options are the same as in `DeflateRequestCompressor`: a program that changes from Alamofire's type to this one keeps
    // its options.

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
        let compression = RequestCompression(
            coding: .gzip, duplicateHeaderBehavior: duplicateHeaderBehavior,
            shouldCompressBodyData: shouldCompressBodyData)
        completion(Result { try compression.adapted(urlRequest) })
    }
}

extension RequestInterceptor where Self == GzipRequestCompressor {
    /// A compressor of all bodies.
    public static var gzipCompressor: GzipRequestCompressor { GzipRequestCompressor() }

    /// Creates a compressor of the bodies for which `shouldCompressBodyData` returns true.
    public static func gzipCompressor(
        duplicateHeaderBehavior: GzipRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> GzipRequestCompressor {
        GzipRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
