// SPDX-License-Identifier: MIT

/// The effort with which an encoder compresses a body: a level of zlib, from 0 to 9.
public struct CompressionLevel: RawRepresentable, Hashable, Sendable {
    /// The number of the level.
    public let rawValue: Int

    /// Level 0: no compression, only the header and trailer of the format.
    public static let store = CompressionLevel(validLevel: 0)
    /// Level 1: the least effort.
    public static let fastest = CompressionLevel(validLevel: 1)
    /// Level 6: zlib's default compromise between effort and size.
    public static let standard = CompressionLevel(validLevel: 6)
    /// Level 9: the smallest result.
    public static let smallest = CompressionLevel(validLevel: 9)

    /// Creates the level with this number; nil unless it is in `0...9`.
    public init?(rawValue: Int) {
        guard (0...9).contains(rawValue) else { return nil }
        self.init(validLevel: rawValue)
    }

    private init(validLevel rawValue: Int) { self.rawValue = rawValue }
}
