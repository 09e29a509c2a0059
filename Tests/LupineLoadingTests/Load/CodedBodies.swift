// SPDX-License-Identifier: MIT

import LupineCoding

@testable import LupineOrigin

/// Bodies in content codings.
enum CodedBodies {
    /// As one gzip member.
    static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try CodingRoutes.deflated(bytes, as: .gzip) }

    /// In zlib's wrapping.
    static func zlib(_ bytes: [UInt8]) throws -> [UInt8] { try CodingRoutes.deflated(bytes, as: .deflate) }

    /// Without a wrapping, as some servers send it under the name of `deflate`.
    static func raw(_ bytes: [UInt8]) throws -> [UInt8] { Array(try zlib(bytes).dropFirst(2).dropLast(4)) }

    static func brotli(_ bytes: [UInt8]) -> [UInt8] { BrotliStored.encoded(bytes) }
}
