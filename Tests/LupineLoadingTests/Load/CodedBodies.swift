// SPDX-License-Identifier: MIT

import LupineCoding

@testable import LupineOrigin

/// Bodies in content codings.
enum CodedBodies {
    /// Returns the bytes as one gzip member.
    static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try CodingRoutes.deflated(bytes, as: .gzip) }

    /// Returns the bytes in the zlib format (RFC 1950).
    static func zlib(_ bytes: [UInt8]) throws -> [UInt8] { try CodingRoutes.deflated(bytes, as: .deflate) }

    /// Returns the bytes as raw deflate data, which some servers send under the name of `deflate`.
    static func raw(_ bytes: [UInt8]) throws -> [UInt8] { Array(try zlib(bytes).dropFirst(2).dropLast(4)) }

    static func brotli(_ bytes: [UInt8]) -> [UInt8] { UncompressedBrotli.encoded(bytes) }
}
