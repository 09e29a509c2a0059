// SPDX-License-Identifier: MIT

/// The effort with which an encoder compresses a body: zlib's levels, 0 to 9.
public struct CompressionLevel: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    /// No compression, only the format's wrapping.
    public static let store = CompressionLevel(checked: 0)
    /// The least effort.
    public static let fastest = CompressionLevel(checked: 1)
    /// zlib's default compromise between effort and size.
    public static let standard = CompressionLevel(checked: 6)
    /// The smallest result.
    public static let smallest = CompressionLevel(checked: 9)

    /// The level with this number; nil unless it is in `0...9`.
    public init?(rawValue: Int) {
        guard (0...9).contains(rawValue) else { return nil }
        self.init(checked: rawValue)
    }

    private init(checked rawValue: Int) { self.rawValue = rawValue }
}
