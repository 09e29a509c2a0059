// SPDX-License-Identifier: MIT

/// Why a certificate, a key or an identity could not be had: what was read, and what is wrong with it.
public enum CertificateError: Error, Hashable, Sendable {
    /// A file or folder could not be read; the error number of the system.
    case unreadable(path: String, errorNumber: Int32)
    /// More bytes than are taken.
    case tooLarge(CertificateInput, count: Int, limit: Int)
    /// It is not what it should be.
    case malformed(CertificateInput, reason: String)
    /// It is well-formed and something that OpenSSL cannot do, such as a retired cipher.
    case unsupported(CertificateInput, reason: String)
    /// Nothing of this kind was there.
    case missing(CertificateInput)
    /// It is encrypted, and no password was given.
    case passwordMissing(CertificateInput)
    /// The password does not open it.
    case wrongPassword(CertificateInput)
    /// Opening it would cost more rounds of key derivation than are spent.
    case tooCostly(CertificateInput, rounds: UInt64, limit: UInt64)
    /// The private key is not that of the certificate.
    case keyMismatch(subject: String)
    /// What happened to one of several: counted from 1, in a file when there was one.
    indirect case at(number: Int, path: String?, CertificateError)
}

/// What was to be read.
public enum CertificateInput: String, Hashable, Sendable {
    /// PEM (RFC 7468).
    case pem = "PEM"
    /// An X.509 certificate.
    case certificate = "certificate"
    /// A public key or a SubjectPublicKeyInfo.
    case publicKey = "public key"
    /// A private key.
    case privateKey = "private key"
    /// A PKCS#12 file.
    case pkcs12 = "PKCS#12"
    /// A pin `sha256/BASE64`.
    case pin = "pin"
    /// A folder: the names in it, or what its files hold together.
    case folder = "folder"
}

extension CertificateError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let path, let number): "cannot read \(path): error \(number)"
        case .tooLarge(let input, let count, let limit):
            "\(input.rawValue) of \(count) bytes, over the limit of \(limit)"
        case .malformed(let input, let reason): "malformed \(input.rawValue): \(reason)"
        case .unsupported(let input, let reason): "unsupported \(input.rawValue): \(reason)"
        case .missing(let input): "no \(input.rawValue)"
        case .passwordMissing(let input): "\(input.rawValue) is encrypted and no password was given"
        case .wrongPassword(let input): "wrong password for \(input.rawValue)"
        case .tooCostly(let input, let rounds, let limit):
            "\(input.rawValue) asks for \(rounds) rounds of key derivation, over the limit of \(limit)"
        case .keyMismatch(let subject): "the private key is not that of \(subject)"
        case .at(let number, let path, let error):
            if let path { "\(path), number \(number): \(error)" } else { "number \(number): \(error)" }
        }
    }
}
