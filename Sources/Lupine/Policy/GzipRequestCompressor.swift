// SPDX-License-Identifier: MIT

public import Foundation
import LupineCoding
public import LupineLoading

/// Compresses the bodies of requests with `gzip` (RFC 9110 §8.4.1.3, RFC 1952): the sibling of
/// `DeflateRequestCompressor`, with the same choices.
///
/// Only bodies that are `Data` are compressed; streams and uploads go as they are.
public struct GzipRequestCompressor: Sendable, RequestInterceptor {
    /// What becomes of a request that has a `Content-Encoding` already.
    public typealias DuplicateHeaderBehavior = DeflateRequestCompressor.DuplicateHeaderBehavior
    /// The request has a `Content-Encoding` already.
    public typealias DuplicateHeaderError = DeflateRequestCompressor.DuplicateHeaderError

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
        let compression = RequestCompression(
            coding: .gzip, duplicateHeaderBehavior: duplicateHeaderBehavior,
            shouldCompressBodyData: shouldCompressBodyData)
        completion(Result { try compression.adapted(urlRequest) })
    }
}

extension RequestInterceptor where Self == GzipRequestCompressor {
    /// A compressor of every body.
    public static var gzipCompressor: GzipRequestCompressor { GzipRequestCompressor() }

    /// A compressor of those bodies that `shouldCompressBodyData` says yes to.
    public static func gzipCompressor(
        duplicateHeaderBehavior: GzipRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> GzipRequestCompressor {
        GzipRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
