// SPDX-License-Identifier: MIT

// The underscore separates major and minor version.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// A version of TLS, by its number on the wire.
public enum TLSVersion: UInt16, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// RFC 2246; deprecated by RFC 8996.
    case v1_0 = 0x0301
    /// RFC 4346; deprecated by RFC 8996.
    case v1_1 = 0x0302
    /// RFC 5246.
    case v1_2 = 0x0303
    /// RFC 8446.
    case v1_3 = 0x0304

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    public var description: String {
        switch self {
        case .v1_0: "TLSv1"
        case .v1_1: "TLSv1.1"
        case .v1_2: "TLSv1.2"
        case .v1_3: "TLSv1.3"
        }
    }
}
