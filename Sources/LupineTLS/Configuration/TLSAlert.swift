// SPDX-License-Identifier: MIT

/// A TLS alert, by its number on the wire (RFC 8446 §6, RFC 5246 §7.2).
///
/// A struct rather than an enum, because a peer may send an unknown number, which is reported unchanged.
public struct TLSAlert: RawRepresentable, Hashable, Sendable {
    /// The description byte of the alert.
    public let rawValue: UInt8

    /// Creates the alert with this number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The peer has nothing more to send.
    public static let closeNotify = TLSAlert(rawValue: 0)
    /// An inappropriate message was received.
    public static let unexpectedMessage = TLSAlert(rawValue: 10)
    /// The authentication of a record failed.
    public static let badRecordMAC = TLSAlert(rawValue: 20)
    /// A record is too long.
    public static let recordOverflow = TLSAlert(rawValue: 22)
    /// There are no parameters that both sides accept.
    public static let handshakeFailure = TLSAlert(rawValue: 40)
    /// A certificate is corrupt.
    public static let badCertificate = TLSAlert(rawValue: 42)
    /// The type of a certificate is not supported.
    public static let unsupportedCertificate = TLSAlert(rawValue: 43)
    /// A certificate was revoked by its issuer.
    public static let certificateRevoked = TLSAlert(rawValue: 44)
    /// A certificate has expired or is not yet valid.
    public static let certificateExpired = TLSAlert(rawValue: 45)
    /// A certificate is not accepted for another reason.
    public static let certificateUnknown = TLSAlert(rawValue: 46)
    /// A handshake field is out of range or inconsistent.
    public static let illegalParameter = TLSAlert(rawValue: 47)
    /// The issuer is unknown.
    public static let unknownCA = TLSAlert(rawValue: 48)
    /// The certificate is valid, but its holder is denied access.
    public static let accessDenied = TLSAlert(rawValue: 49)
    /// A message could not be decoded.
    public static let decodeError = TLSAlert(rawValue: 50)
    /// A signature or a key exchange could not be verified.
    public static let decryptError = TLSAlert(rawValue: 51)
    /// The protocol version is not supported.
    public static let protocolVersion = TLSAlert(rawValue: 70)
    /// There are no parameters that are secure enough.
    public static let insufficientSecurity = TLSAlert(rawValue: 71)
    /// An internal error of the peer, unrelated to this side.
    public static let internalError = TLSAlert(rawValue: 80)
    /// A retry with a lower version that is not necessary (RFC 7507).
    public static let inappropriateFallback = TLSAlert(rawValue: 86)
    /// The peer's user has canceled the handshake.
    public static let userCanceled = TLSAlert(rawValue: 90)
    /// Renegotiation is refused.
    public static let noRenegotiation = TLSAlert(rawValue: 100)
    /// A required extension is missing.
    public static let missingExtension = TLSAlert(rawValue: 109)
    /// An extension is not allowed.
    public static let unsupportedExtension = TLSAlert(rawValue: 110)
    /// No server with the indicated name exists.
    public static let unrecognizedName = TLSAlert(rawValue: 112)
    /// The stapled OCSP response is invalid.
    public static let badCertificateStatusResponse = TLSAlert(rawValue: 113)
    /// The pre-shared key is unknown.
    public static let unknownPSKIdentity = TLSAlert(rawValue: 115)
    /// A client certificate is required.
    public static let certificateRequired = TLSAlert(rawValue: 116)
    /// None of the offered application protocols is supported.
    public static let noApplicationProtocol = TLSAlert(rawValue: 120)
}

extension TLSAlert: CustomStringConvertible {
    /// The name in the RFCs, such as `handshake_failure`, otherwise the number.
    public var description: String { Self.names[rawValue] ?? "alert \(rawValue)" }

    /// The names of the alerts, including obsolete ones, by their numbers.
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
