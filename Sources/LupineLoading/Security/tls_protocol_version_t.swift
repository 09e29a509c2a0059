// SPDX-License-Identifier: MIT

internal import LupineTLS

// The name is Apple's, from a C header.
// swift-format-ignore: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase
/// A version of TLS or DTLS by its number on the wire, under Apple's name. DTLS is not supported.
public enum tls_protocol_version_t: UInt16, Sendable {
    /// RFC 2246; deprecated.
    case TLSv10 = 0x0301
    /// RFC 4346; deprecated.
    case TLSv11 = 0x0302
    /// RFC 5246.
    case TLSv12 = 0x0303
    /// RFC 8446.
    case TLSv13 = 0x0304
    /// RFC 4347; not supported.
    case DTLSv10 = 0xFEFF
    /// RFC 6347; not supported.
    case DTLSv12 = 0xFEFD

    /// The same version as a type of LupineTLS; nil for DTLS.
    var version: TLSVersion? { TLSVersion(rawValue: rawValue) }

    /// Creates the version that a connection has negotiated.
    init(_ version: TLSVersion) {
        switch version {
        case .v1_0: self = .TLSv10
        case .v1_1: self = .TLSv11
        case .v1_2: self = .TLSv12
        case .v1_3: self = .TLSv13
        }
    }
}
