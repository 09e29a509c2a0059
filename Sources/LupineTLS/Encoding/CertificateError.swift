// SPDX-License-Identifier: MIT

/// The reason why a certificate, a key or an identity could not be read.
public enum CertificateError: Error, Hashable, Sendable {
    /// A file or folder could not be read; `errorNumber` is the value of `errno`.
    case unreadable(path: String, errorNumber: Int32)
    /// The input has more bytes than allowed.
    case tooLarge(CertificateInput, count: Int, limit: Int)
    /// The input is malformed.
    case malformed(CertificateInput, reason: String)
    /// The input is well-formed, but not supported by OpenSSL, for example a retired cipher.
    case unsupported(CertificateInput, reason: String)
    /// The input contains no certificate, key or other item of this kind.
    case missing(CertificateInput)
    /// The input is encrypted, and the caller has passed no password.
    case passwordMissing(CertificateInput)
    /// The password does not decrypt the input.
    case wrongPassword(CertificateInput)
    /// Decryption would need more rounds of key derivation than allowed.
    case tooCostly(CertificateInput, rounds: UInt64, limit: UInt64)
    /// The private key does not match the certificate.
    case keyMismatch(subject: String)
    /// One of several items has an error: `number` is its position, starting at 1, and `path` its file, if any.
    indirect case at(number: Int, path: String?, CertificateError)
}

/// The kind of the input that an error is about.
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
    /// A folder: the names of its files, or the contents of all its files.
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
