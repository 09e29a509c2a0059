// SPDX-License-Identifier: MIT

/// An alert of the protocol, by its number on the wire (RFC 8446 §6, RFC 5246 §7.2).
///
/// A struct and no enum: a peer may send a number that nobody here knows, and it is reported as it came.
public struct TLSAlert: RawRepresentable, Hashable, Sendable {
    /// The description byte of the alert.
    public let rawValue: UInt8

    /// The alert of this number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The peer has nothing more to send.
    public static let closeNotify = TLSAlert(rawValue: 0)
    /// A message that did not belong there.
    public static let unexpectedMessage = TLSAlert(rawValue: 10)
    /// A record whose authentication failed.
    public static let badRecordMAC = TLSAlert(rawValue: 20)
    /// A record that is too long.
    public static let recordOverflow = TLSAlert(rawValue: 22)
    /// No set of parameters that both sides accept.
    public static let handshakeFailure = TLSAlert(rawValue: 40)
    /// A certificate that is broken.
    public static let badCertificate = TLSAlert(rawValue: 42)
    /// A certificate of a kind that is not taken.
    public static let unsupportedCertificate = TLSAlert(rawValue: 43)
    /// A certificate that its issuer has revoked.
    public static let certificateRevoked = TLSAlert(rawValue: 44)
    /// A certificate outside its validity.
    public static let certificateExpired = TLSAlert(rawValue: 45)
    /// A certificate that is not taken for another reason.
    public static let certificateUnknown = TLSAlert(rawValue: 46)
    /// A field of the handshake out of its range.
    public static let illegalParameter = TLSAlert(rawValue: 47)
    /// An issuer that is not known.
    public static let unknownCA = TLSAlert(rawValue: 48)
    /// A valid certificate whose holder may not come in.
    public static let accessDenied = TLSAlert(rawValue: 49)
    /// A message that could not be decoded.
    public static let decodeError = TLSAlert(rawValue: 50)
    /// A signature or a key exchange that could not be verified.
    public static let decryptError = TLSAlert(rawValue: 51)
    /// A version that is not spoken.
    public static let protocolVersion = TLSAlert(rawValue: 70)
    /// No parameters that are strong enough.
    public static let insufficientSecurity = TLSAlert(rawValue: 71)
    /// A fault of the peer that has nothing to do with this side.
    public static let internalError = TLSAlert(rawValue: 80)
    /// A retry with a lower version that should not have been needed (RFC 7507).
    public static let inappropriateFallback = TLSAlert(rawValue: 86)
    /// The handshake is given up by the peer's user.
    public static let userCanceled = TLSAlert(rawValue: 90)
    /// A renegotiation is refused.
    public static let noRenegotiation = TLSAlert(rawValue: 100)
    /// An extension that had to be there.
    public static let missingExtension = TLSAlert(rawValue: 109)
    /// An extension that may not be there.
    public static let unsupportedExtension = TLSAlert(rawValue: 110)
    /// A server name that nobody answers for.
    public static let unrecognizedName = TLSAlert(rawValue: 112)
    /// A stapled answer that is of no use.
    public static let badCertificateStatusResponse = TLSAlert(rawValue: 113)
    /// A pre-shared key that is not known.
    public static let unknownPSKIdentity = TLSAlert(rawValue: 115)
    /// A certificate of the client is wanted.
    public static let certificateRequired = TLSAlert(rawValue: 116)
    /// None of the application protocols is spoken.
    public static let noApplicationProtocol = TLSAlert(rawValue: 120)
}

extension TLSAlert: CustomStringConvertible {
    /// The name that the RFCs give it, such as `handshake_failure`, else its number.
    public var description: String { Self.names[rawValue] ?? "alert \(rawValue)" }

    private static let names: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed",
        22: "record_overflow", 30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate",
        42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked",
        45: "certificate_expired", 46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca",
        49: "access_denied", 50: "decode_error", 51: "decrypt_error", 60: "export_restriction",
        70: "protocol_version", 71: "insufficient_security", 80: "internal_error",
        86: "inappropriate_fallback", 90: "user_canceled", 100: "no_renegotiation", 109: "missing_extension",
        110: "unsupported_extension", 111: "certificate_unobtainable", 112: "unrecognized_name",
        113: "bad_certificate_status_response", 114: "bad_certificate_hash_value",
        115: "unknown_psk_identity", 116: "certificate_required", 120: "no_application_protocol",
    ]
}
