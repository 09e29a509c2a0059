// SPDX-License-Identifier: MIT

/// How much work an encoder puts into making a body smaller: zlib's levels, 0 to 9.
public struct CompressionLevel: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    /// No compression, only the wrapping.
    public static let store = CompressionLevel(checked: 0)
    /// The least work.
    public static let fastest = CompressionLevel(checked: 1)
    /// zlib's own choice between work and size.
    public static let standard = CompressionLevel(checked: 6)
    /// The smallest result.
    public static let smallest = CompressionLevel(checked: 9)

    /// Nil unless `rawValue` is in `0...9`.
    public init?(rawValue: Int) {
        guard (0...9).contains(rawValue) else { return nil }
        self.init(checked: rawValue)
    }

    private init(checked rawValue: Int) { self.rawValue = rawValue }
}
